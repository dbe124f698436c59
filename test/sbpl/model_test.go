package sbpl

import (
	"errors"
	"slices"
	"testing"
)

// TestPrecedence compares the measured reading with the results of others on real systems, and
// states where the naive reading would be wrong. Each case is headed by its source.
func TestPrecedence(t *testing.T) {
	for _, c := range []struct {
		source, rules, op, path string
		want, sure              bool
	}{
		{"mxc, ScarabHive: of rules with a filter the last match wins",
			`(allow file-read-data (subpath "/a")) (deny file-read-data (literal "/a/b"))`, "file-read-data", "/a/b", false, true},
		{"the same, the other way round",
			`(deny file-read-data (literal "/a/b")) (allow file-read-data (subpath "/a"))`, "file-read-data", "/a/b", true, true},
		{"ScarabHive, Homebrew: a rule without a filter is the default of its operation wherever it stands",
			`(allow file-write-data (literal "/a")) (deny file-write-data)`, "file-write-data", "/a", true, false},
		{"greywall 20: a named operation beats its family whatever the order",
			`(allow file-read-data (subpath "/")) (deny file-read* (literal "/a"))`, "file-read-data", "/a", true, false},
		{"greywall 20: a denial of the same name works",
			`(allow file-read-data (subpath "/")) (deny file-read-data (literal "/a"))`, "file-read-data", "/a", false, true},
		{"strands-agents/box: a denial in front of it does not matter either",
			`(deny file-write* (literal "/d/f")) (allow file-write-data (subpath "/d"))`, "file-write-data", "/d/f", true, true},
		{"strands-agents/box: the default does not reach what version 1 allows", ``, "file-test-existence", "/a", true, false},
		{"strands-agents/box: nor does a family", `(deny file*)`, "file-clone", "/a", true, false},
		{"strands-agents/box: its own name does", `(deny file-clone)`, "file-clone", "/a", false, true},
		{"families fall back to larger ones", `(allow file* (subpath "/a"))`, "file-write-create", "/a/x", true, true},
	} {
		p := parse(t, "(version 1)(deny default)"+c.rules)
		r := Request{Path: c.path}
		if got := p.measured(c.op, &r); got != c.want {
			t.Errorf("%s: got %v", c.source, got)
		}
		if _, err := p.Allows(c.op, r); errors.Is(err, ErrDisagree) == c.sure {
			t.Errorf("%s: got %v", c.source, err)
		}
	}
}

// TestFamilies checks the table of operations: the family of each, and that every name is known
// once.
func TestFamilies(t *testing.T) {
	for op, family := range map[string]string{
		"file-read-data": "file-read*", "file-read*": "file*", "file*": "default", "file-write-unlink": "file-write*", "file-link": "file*",
		"process-exec-interpreter": "process-exec*", "process-exec*": "process*", "network-outbound": "network*", "signal": "default",
		"ipc-posix-shm-write-data": "ipc-posix-shm-write*", "mach-lookup": "mach*", "system-mac-syscall": "system*", "sysctl-read": "sysctl*",
	} {
		if parents[op] != family {
			t.Errorf("%s falls back to %s, want %s", op, parents[op], family)
		}
	}
	for _, op := range slices.Concat(undeniable, []string{"default"}) {
		if !slices.Contains(known, op) {
			t.Errorf("%s is not known", op)
		}
	}
	for alias, op := range aliases {
		if !slices.Contains(known, op) || slices.Contains(known, alias) {
			t.Errorf("%s is an alias of %s", alias, op)
		}
	}
}
