package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestFind(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for _, d := range []string{"home/u/repo/.git", "home/u/repo/sub", "home/u/plain", "ws/.jp", "ws/sub/deep", "ws/other", "files", "data/state"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"ws/other/accessc.toml", "files/.jp", "files/.accessc"} {
		if err := os.WriteFile(at(f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("home/u"), at("link")); err != nil {
		t.Skip(err)
	}
	t.Setenv("HOME", at("home/u"))
	t.Setenv("USERPROFILE", at("home/u"))
	state := at("data/state/accessc")
	for _, c := range []struct{ dir, want, why string }{
		{"home/u", "", "is a home directory"},
		{"link", "", "is a home directory"},
		{"home", "", "contains home directories"},
		{"", "", "contains home directories"},
		{"data", "", "contains accessc's own state, which tools must not write"},
		{"home/u/plain", "home/u/plain", ""},
		{"home/u/repo/sub", "home/u/repo", ""},
		{"ws/sub/deep", "ws", ""},
		{"ws/other", "ws/other", ""},
		{"files", "files", ""}, // a file of another kind with the name of a mark does not count
	} {
		got, err := Find(at(c.dir), state)
		var no *Refused
		switch {
		case c.why == "" && (err != nil || got != at(c.want)):
			t.Errorf("%s: %s, %v", c.dir, got, err)
		case c.why != "" && (!errors.As(err, &no) || no.Why != c.why):
			t.Errorf("%s: %s, %v, want %s", c.dir, got, err, c.why)
		}
	}
	if runtime.GOOS == "linux" {
		for _, d := range []string{"/", "/usr", "/etc", "/home", "/dev", "/usr/lib"} {
			if got, err := Find(d, state); err == nil {
				t.Errorf("%s: %s", d, got)
			}
		}
	}
	for file, want := range map[string]string{"ws/sub/x": "ws", "home/u/repo/x": "home/u/repo", "home/u/x": "", "files/x": ""} {
		if got, ok := Around(at(file), state); ok != (want != "") || ok && got != at(want) {
			t.Errorf("around %s: %s", file, got)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		path, dir string
		want      bool
	}{
		{"/a", "/a", true}, {"/a/b", "/a", true}, {"/ab", "/a", false}, {"/", "/a", false}, {"/a", "/", true}, {"/a/..b", "/a", true},
	} {
		if got := Within(filepath.FromSlash(c.path), filepath.FromSlash(c.dir)); got != c.want {
			t.Errorf("%s within %s: %v", c.path, c.dir, got)
		}
	}
}
