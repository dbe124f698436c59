//go:build unix

package start

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// TestShellCommand: text for a shell gets the further words as its arguments, never
// as its text.
func TestShellCommand(t *testing.T) {
	l := &backends.Launch{Command: &backends.Command{Program: "a | b", Shell: true}}
	r := &Request{}
	if got, err := r.argv(l); err != nil || !slices.Equal(got, []string{"/bin/sh", "-c", "a | b", "a | b"}) {
		t.Errorf("got %q, %v", got, err)
	}
	r.Args = []string{"; rm -rf /", "x"}
	want := []string{"/bin/sh", "-c", `a | b "$@"`, "a | b", "; rm -rf /", "x"}
	if got, err := r.argv(l); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// TestFindAllocates: the directories of a PATH that lack a program cost little each.
func TestFindAllocates(t *testing.T) {
	dir := t.TempDir()
	allocations := func(path string) float64 {
		return testing.AllocsPerRun(20, func() {
			if _, err := find("true", dir, []string{"PATH=" + path + "/usr/bin"}); err != nil {
				t.Fatal(err)
			}
		})
	}
	const more = 40
	few, many := allocations(""), allocations(strings.Repeat("/nowhere/bin:", more))
	if each := (many - few) / more; each > 4 {
		t.Errorf("%g allocations for each directory", each)
	}
}

// TestFindSkips: a directory of PATH that cannot be searched has no programs, as for a shell, so that a program that is
// nowhere is not found (127) instead of not runnable (126).
func TestFindSkips(t *testing.T) {
	dir := t.TempDir()
	closed, file := filepath.Join(dir, "closed"), filepath.Join(dir, "file")
	if err := errors.Join(os.Mkdir(closed, 0), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := find("nowhere", dir, []string{"PATH=" + closed + ":" + file}); !errors.As(err, &e) || e.Code != CodeNotFound {
		t.Errorf("got %v", err)
	}
	if _, err := find("true", dir, []string{"PATH=" + file + ":/usr/bin"}); err != nil {
		t.Error(err)
	}
}

// TestEnviron: only the variables that the policy forwards, with the private directories in
// place of the user's.
func TestEnviron(t *testing.T) {
	base := &backends.Launch{Home: "/state/home", Environment: []backends.Variable{{Name: "PATH", Read: true}, {Name: "LC_", Prefix: true, Read: true}, {Name: "TEMP"}}}
	host := []string{"PATH=/bin", "LC_ALL=C", "SECRET=1", "HOME=/home/me", "LD_PRELOAD=x", "TMPDIR=/tmp", "=odd", "noequals", "XDG_CACHE_HOME=/home/me/.cache"}
	for _, system := range []ir.Platform{ir.Linux, ir.Darwin} {
		got := environ(base, system, host, "/run/tmp", "/run/tmp/context.json")
		want := []string{
			"ACCESSC_CONTEXT=/run/tmp/context.json", "HOME=/state/home", "LC_ALL=C", "PATH=/bin", "TMP=/run/tmp", "TMPDIR=/run/tmp",
			"XDG_CACHE_HOME=/state/home/.cache", "XDG_CONFIG_HOME=/state/home/.config", "XDG_DATA_HOME=/state/home/.local/share",
			"XDG_RUNTIME_DIR=/run/tmp", "XDG_STATE_HOME=/state/home/.local/state",
		}
		if system == ir.Darwin {
			want = slices.Insert(want, 1, "DIRHELPER_USER_DIR_SUFFIX=tmp")
		}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		l := *base
		l.Home, l.Environment = "", append(slices.Clone(l.Environment), backends.Variable{Name: "HOME", Read: true})
		if got := environ(&l, system, host, "/t", "/t/c"); !slices.Contains(got, "HOME=/home/me") || slices.ContainsFunc(got, func(v string) bool { return strings.HasPrefix(v, "XDG_") }) {
			t.Errorf("with the real home: got %q", got)
		}
	}
}

// TestGivenValues: a rule that gives a value sets the variable where no other rule forwards or
// withholds the user's.
func TestGivenValues(t *testing.T) {
	value := func(name, value string) backends.Variable {
		return backends.Variable{Name: name, Read: true, Value: value}
	}
	l := &backends.Launch{Home: "/state/home", Environment: []backends.Variable{
		value("PLAIN", "/home/me/.x"), value("OWN", "-D${home}/y"), value("TWICE", "first"), value("TWICE", "second"),
		value("FORWARDED", "ours"), value("MISSING", "ours"), value("DENIED", "ours"), value("WILD", "ours"),
		{Name: "FORWARDED", Read: true}, {Name: "MISSING", Read: true}, {Name: "DENIED"}, {Name: "WI", Prefix: true},
	}}
	host := []string{"PLAIN=user's", "FORWARDED=user's", "DENIED=user's", "WILD=user's"}
	want := map[string]string{
		"PLAIN": "/home/me/.x", "OWN": "-D/state/home/y", "TWICE": "first", "FORWARDED": "user's", "MISSING": "ours", "DENIED": "", "WILD": "",
	}
	got := environ(l, ir.Linux, host, "/t", "/t/c")
	for name, value := range want {
		if found, _ := lookupEnv(got, name); found != value {
			t.Errorf("%s: got %q, want %q", name, found, value)
		}
	}
	l.Home = ""
	if found, ok := lookupEnv(environ(l, ir.Linux, host, "/t", "/t/c"), "OWN"); ok {
		t.Errorf("without a home of its own: got OWN=%q", found)
	}
}
