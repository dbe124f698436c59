package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
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
		got, err := Find(at(c.dir), state, func(string, string) bool { return true })
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
			if got, err := Find(d, state, nil); err == nil {
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

// TestFindNested: a workspace in another one is refused unless every one around it lists it, or lists the one between. Cause: the
// nearest mark upwards decided, so a file below the root was a policy of its own.
func TestFindNested(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("USERPROFILE", filepath.Join(dir, "home"))
	for _, d := range []string{"home/.jp", "home/a/.accessc", "home/a/b/c/.jp", "home/a/b/c/d/.jp", "home/a/b/sub"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(d)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, "home", filepath.FromSlash(name)) }
	for name, c := range map[string]struct {
		from  string
		lists []string // "outer>inner"
		root  string
		outer string
	}{
		"a home directory around it is none":   {"a", nil, "a", ""},
		"a directory without a mark":           {"a/b/sub", nil, "a", ""},
		"not listed":                           {"a/b/c", nil, "a/b/c", "a"},
		"listed":                               {"a/b/c", []string{"a>a/b/c"}, "a/b/c", ""},
		"of two, none is listed":               {"a/b/c/d", nil, "a/b/c/d", "a/b/c"},
		"of two, the inner one is":             {"a/b/c/d", []string{"a/b/c>a/b/c/d"}, "a/b/c/d", "a"},
		"of two, the outer one is":             {"a/b/c/d", []string{"a>a/b/c"}, "a/b/c/d", "a/b/c"},
		"of two, both are":                     {"a/b/c/d", []string{"a>a/b/c", "a/b/c>a/b/c/d"}, "a/b/c/d", ""},
		"of two, both list the inner one":      {"a/b/c/d", []string{"a>a/b/c/d", "a/b/c>a/b/c/d"}, "a/b/c/d", ""},
		"of two, the outer one lists it alone": {"a/b/c/d", []string{"a>a/b/c/d"}, "a/b/c/d", "a/b/c"},
	} {
		got, err := Find(at(c.from), "", func(outer, inner string) bool {
			return slices.ContainsFunc(c.lists, func(l string) bool {
				o, i, _ := strings.Cut(l, ">")
				return at(o) == outer && at(i) == inner
			})
		})
		var no *Refused
		switch errors.As(err, &no); {
		case got != at(c.root), c.outer == "" && err != nil, c.outer != "" && (no == nil || no.Outer != at(c.outer)):
			t.Errorf("%s: %s, %v", name, got, err)
		}
		if _, without := Find(at(c.from), "", nil); (without == nil) != (c.outer == "" && c.lists == nil) {
			t.Errorf("%s, where nothing is read: %v", name, without)
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

// TestLed: a workspace that a symlink of another one leads to is refused, named or not, on whatever way the symlink
// is met; so is a directory that tools write. Cause: the path was made canonical before the workspace around it was
// looked for, and of accessc's state only the directories around it were none.
func TestLed(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	t.Setenv("HOME", at("home"))
	t.Setenv("USERPROFILE", at("home"))
	t.Setenv("TMPDIR", at("tmp"))
	t.Setenv("TMP", at("tmp"))
	const run = "tmp/accessc-1234567890"
	const drawn = "tmp/accessc-ABCDEFGHIJKLMNOPQRSTUVWXYZ/x"
	const seat = "tmp/accessc-seat-12/accessc-12345"
	for _, d := range []string{
		"ws/.jp", "ws/in/deep", "git/.git", "other/.jp/deep", "plain/deep", "state/w/home/t/evil/.jp", "state/w/home/t/.git",
		run + "/.jp", drawn, "tmp/accessc-main/.jp", "home/.jp", seat, "scratch/accessc-1234567/x/.jp", "scratch/accessc-2/x",
	} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"ws/docs": "../other", "ws/plain": at("plain"), "ws/again": "docs", "ws/self": "in", "git/docs": "../other",
		"home/docs": "../other", "docs": "ws/docs", "ws/up": "../plain/deep", "ws/evil": "../state/w/home/t/evil", "link": "ws",
	} {
		if err := os.Symlink(filepath.FromSlash(to), at(link)); err != nil {
			t.Skip(err)
		}
	}
	const neither, byName, both = 0, 1, 2
	for name, want := range map[string]int{
		"ws/docs": neither, "ws/docs/.jp": neither, "ws/plain": neither, "ws/plain/deep": neither, "ws/again": neither,
		"git/docs": neither, "docs": neither, "ws/up": neither, "ws/evil": neither, "link/docs": neither,
		"state/w/home/t/evil": neither, "state/w/home/t": neither, "state/w": neither, "state": neither, run: neither, drawn: neither,
		// A run whose TMPDIR was another one, or lies in the directory of a seat, was a workspace.
		seat: neither, "scratch/accessc-1234567/x": neither, "scratch/accessc-2/x": both,
		"ws": both, "ws/in/deep": both, "ws/self/deep": both, "link/in": both, "other": both, "plain": both, "home/docs": both,
		"tmp/accessc-main": both, "git": both, "home": byName,
	} {
		var no *Refused
		_, err := Find(at(name), at("state"), func(string, string) bool { return true })
		if (err == nil) != (want == both) || err != nil && !errors.As(err, &no) {
			t.Errorf("%s is found: %v", name, err)
		}
		if err := Named(at(name), at("state")); (err == nil) != (want != neither) || err != nil && !errors.As(err, &no) {
			t.Errorf("%s is named: %v", name, err)
		}
	}
	// In a run, accessc starts tools in the directory of that run.
	t.Setenv("TMPDIR", at(run))
	t.Setenv("TMP", at(run))
	if _, err := Find(at(run), at("state"), nil); err != nil {
		t.Error(err)
	}
}
