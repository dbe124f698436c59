package evidence

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestCommitted: the document of this version can be read.
func TestCommitted(t *testing.T) {
	if _, err := Parse(committed); err != nil {
		t.Error(err)
	}
}

const (
	commit = `"commit":"0123456789012345678901234567890123456789"`
	mac    = `{"platform":"darwin","system":"macOS 26.1","build":"25B78","arch":"arm64",` + commit + `,"passed":["conformance/fs-create","conformance/fs-read"],"failed":[]}`
	old    = `{"platform":"darwin","system":"macOS 15.7.9","build":"24G1","arch":"arm64",` + commit + `,"passed":["conformance/fs-read"],"failed":["conformance/fs-create"]}`
	win    = `{"platform":"windows","system":"Windows Server 2025","build":"26100.1","arch":"amd64",` + commit + `,"passed":["TestOnWindows/lists","conformance/fs-read"],"failed":[]}`
)

func document(runs ...string) string {
	return `{"format":"accessc/platform-evidence","format_version":1,"runs":[` + strings.Join(runs, ",") + `]}`
}

// TestSeen: a row is seen where all its tests passed, and nowhere once one of them failed.
func TestSeen(t *testing.T) {
	d, err := Parse([]byte(document(old, mac, win)))
	if err != nil {
		t.Fatal(err)
	}
	const is26, is15 = "macOS 26.1 (25B78, arm64)", "macOS 15.7.9 (24G1, arm64)"
	for tests, want := range map[string][]string{
		"conformance/fs-read":                       {is15, is26},
		"conformance/fs-create":                     nil,
		"conformance/fs-read conformance/fs-create": nil,
		"conformance/fs-read conformance/fs-move":   nil,
		"": nil,
	} {
		if got := d.Seen(ir.Darwin, strings.Fields(tests)); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", tests, got, want)
		}
	}
	if got := d.Seen(ir.Windows, []string{"TestOnWindows/lists", "conformance/fs-read"}); len(got) != 1 {
		t.Errorf("got %q", got)
	}
	if got := d.Seen(ir.Linux, []string{"conformance/fs-read"}); got != nil {
		t.Errorf("got %q", got)
	}
	if got := d.Machines(ir.Darwin); len(got) != 2 || got[0] != is15+": 1 passed, 1 failed" {
		t.Errorf("got %q", got)
	}
}

// TestRefused: nothing is evidence that the workflow would not have written.
func TestRefused(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(document(mac, win), old, new, 1) }
	for name, text := range map[string]string{
		"nothing": "", "no object": "[]", "another format": change("platform-evidence", "evidence"), "another version": change(`version":1`, `version":2`),
		"an unknown key": change(`"runs"`, `"x":1,"runs"`), "a key twice": change(`"arch"`, `"build":"1","arch"`), "more behind it": document(mac) + "{}",
		"an unknown platform": change(`"darwin"`, `"linux"`), "the wrong system": change("macOS 26.1", "Windows 11"), "a system with more": change("macOS 26.1", "macOS 26.1; all rules exact"),
		"markup": change("25B78", "<b>"), "an escape": change("25B78", `\u001b[2J`), "an empty build": change("25B78", ""), "an architecture": change("arm64", "m68k"),
		"a commit": change("0123456789", "HEAD"), "a test": change("conformance/fs-read", "fs-read"), "a test with a path": change("conformance/fs-read", "conformance/../x"),
		"unsorted": change(`"conformance/fs-create","conformance/fs-read"`, `"conformance/fs-read","conformance/fs-create"`),
		"twice":    change(`"conformance/fs-create","conformance/fs-read"`, `"conformance/fs-read","conformance/fs-read"`),
		"both":     change(`"failed":[]`, `"failed":["conformance/fs-read"]`), "no test": change(`["conformance/fs-create","conformance/fs-read"]`, "[]"),
		"one machine twice": document(mac, mac), "another order": document(win, mac), "too long": document(mac) + strings.Repeat(" ", MaxSize),
		"deep": strings.Repeat("[", 100_000),
	} {
		if d, err := Parse([]byte(text)); !errors.Is(err, ErrDocument) {
			t.Errorf("%s: got %+v, %v", name, d, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(document(old, mac, win)))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Parse(data)
		if err != nil {
			return
		}
		for _, r := range d.Runs {
			if strings.ContainsAny(r.Where(), "<>|`\n\x1b") {
				t.Errorf("a machine is called %q", r.Where())
			}
		}
	})
}
