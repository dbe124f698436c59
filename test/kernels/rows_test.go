package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func names(rows []row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.name)
	}
	return out
}

// TestChoose: rows run in the order of the table, and an unknown one is an error that lists the
// existing ones.
func TestChoose(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"newest 2 none", "none 2 newest"}, {"", strings.Join(everyday, " ")}, {"all", strings.Join(names(rows), " ")},
	} {
		got, err := choose(strings.Fields(tt.args))
		if err != nil || strings.Join(names(got), " ") != tt.want {
			t.Errorf("%q: got %v, %v", tt.args, names(got), err)
		}
	}
	if _, err := choose([]string{"12"}); err == nil || !strings.Contains(err.Error(), `no row "12"; there are all, none, off, 1, 2`) {
		t.Errorf("got %v", err)
	}
}

// TestNewest: versions are compared as numbers, and the packages of other flavours are
// passed over.
func TestNewest(t *testing.T) {
	of := func(name string) row { return rows[slices.Index(names(rows), name)] }
	packages := []string{
		"linux-image-6.1.0-9-cloud-amd64", "linux-image-6.1.0-50-cloud-amd64", "linux-image-6.1.0-51-cloud-amd64-dbg",
		"linux-image-6.1.0-52-cloud-amd64-unsigned", "linux-image-6.1.0-53-amd64", "linux-image-6.12.1+deb13-cloud-amd64",
		"linux-binary-7.9.4+deb13-cloud-amd64", "linux-binary-7.10.1+deb13-cloud-amd64",
		"linux-image-unsigned-5.15.0-204-generic", "linux-image-unsigned-5.15.0-99-generic",
	}
	for name, want := range map[string]string{
		"1": "linux-image-unsigned-5.15.0-204-generic", "2": "linux-image-6.1.0-50-cloud-amd64",
		"6": "linux-image-6.12.1+deb13-cloud-amd64", "newest": "linux-binary-7.10.1+deb13-cloud-amd64", "3": "",
	} {
		if got, ok := of(name).newest(packages); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestRowsSkipOnly: a row leaves out no more than its interface explains, and its pattern is
// written as the testing package and the kernel's command line need it.
func TestRowsSkipOnly(t *testing.T) {
	for _, r := range rows {
		skips := r.skips()
		if strings.ContainsAny(skips, " \"=") {
			t.Errorf("%s: the kernel would split %q", r.name, skips)
		}
		// COMMAND_LINE_SIZE of x86 is 2,048 (arch/x86/include/asm/setup.h).
		if n := len((image{row: r}).parameters(settings{run: strings.Repeat("x", 300)})); n >= 2048 {
			t.Errorf("%s: the kernel would cut off a command line of %d bytes", r.name, n)
		}
		if _, err := regexp.Compile(skips); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		if r.abi >= signals && skips != documents+"^TestScripts$/^(old|without|"+waiting+")$" {
			t.Errorf("%s skips %s", r.name, skips)
		}
	}
}

// TestExpects: the newest kernel may have a newer interface, no other one.
func TestExpects(t *testing.T) {
	for _, tt := range []struct {
		row  row
		abi  int
		want bool
	}{
		{row{abi: 3}, 3, true}, {row{abi: 3}, 4, false}, {row{abi: 3}, 2, false},
		{row{abi: 11, newer: true}, 12, true}, {row{abi: 11, newer: true}, 10, false},
	} {
		if got := tt.row.expects(tt.abi); got != tt.want {
			t.Errorf("%+v, ABI %d: got %v", tt.row, tt.abi, got)
		}
	}
}
