//go:build unix

package start

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/host/userdir"
)

// TestForeign: a manifest once vouched for the artifact beside it wherever both lay, and a
// tool that wrote both chose what its next start might do.
func TestForeign(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	t.Setenv("HOME", at("home"))
	t.Setenv("XDG_STATE_HOME", at("home/state"))
	mine := "home/state/accessc/workspaces/ws-1/"
	for _, d := range []string{"ws/.accessc", "other/.git", "cwd/out/t", "shared/fork/t", "home/out/t", mine + "access/t", mine + "home/t/access/t", mine + "run/1"} {
		if err := os.MkdirAll(at(d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	store := `{"mounts":[{"rule_path":"fork","canonical_target":"` + at("shared/fork") + `"}]}`
	if err := os.WriteFile(at(mine+"approvals.json"), []byte(store), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("cwd"), at("link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, root, why string }{
		{"home/out/t/landlock.json", at("ws"), ""},
		{mine + "access/t/landlock.json", at("ws"), ""},
		{"ws/out/t/landlock.json", "", "lies in the workspace " + at("ws")},
		{"other/out/t/landlock.json", "", "lies in the workspace " + at("other")},
		{"cwd/out/t/landlock.json", at("cwd"), "lies in the workspace " + at("cwd")},
		{"cwd/out/t/landlock.json", at("link"), "lies in the workspace " + at("link")},
		{"shared/fork/t/landlock.json", at("ws"), "fork of a workspace was approved to lead"},
		{"shared/forked/t/landlock.json", at("ws"), ""},
		{mine + "home/t/access/t/landlock.json", "", "is no build there"},
		{mine + "run/1/t/landlock.json", "", "is no build there"},
		{"home/state/accessc/landlock.json", "", "is no build there"},
	} {
		if why := Exposed(at(c.file), c.root); c.why == "" && why != "" || !strings.Contains(why, c.why) {
			t.Errorf("%s from %s: %q, want %q", c.file, c.root, why, c.why)
		}
	}
	l := backends.Launch{Workspace: at("link"), Home: at(mine + "home/t")}
	for file, want := range map[string]bool{"cwd/out/t/x": true, mine + "home/t/x": true, "home/out/t/x": false} {
		if why := own(at(file), l); why != "" != want {
			t.Errorf("own %s: %q", file, why)
		}
	}

	// A store that others may write counts by the places that its text names.
	if err := os.Chmod(at(mine+"approvals.json"), 0o666); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{"home/out/t/landlock.json": false, "shared/fork/t/landlock.json": true} {
		if why := Exposed(at(file), ""); strings.Contains(why, "may lie in a place") != want || !want && why != "" {
			t.Errorf("%s, with a store that others may write: %q", file, why)
		}
	}
}

// TestApprovalTakenBack: a build keeps the targets that were approved when it was made.
func TestApprovalTakenBack(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", dir)
	context := func(rules string) backends.Launch {
		return backends.Launch{Workspace: "/w", Context: `{"root":"/w","action":"run","tool":"t","access":{"base":{"name":"none","version":1},"fs":[` + rules + `],"net":[],"env":[],"commands":null}}`}
	}
	external := func(rule, target string) string {
		return `{"lexical_path":"` + rule + `","external":true,"approved_target":"` + target + `","read":true,"create":false,"update":false,"delete":false,"execute":false}`
	}
	own := `{"lexical_path":"src","external":false,"approved_target":null,"read":true,"create":false,"update":false,"delete":false,"execute":false}`
	if err := approved(context(own)); err != nil {
		t.Errorf("without external rules: %v", err)
	}
	if err := approved(context(external("fork", "/far"))); err == nil {
		t.Error("nothing was approved")
	}
	if err := approved(backends.Launch{Workspace: "/w", Context: "{"}); err == nil {
		t.Error("a Context that cannot be read")
	}
	put(t, "/w", `{"mounts":[{"rule_path":"fork","canonical_target":"/far"}]}`)
	for _, c := range []struct {
		rule, target string
		want         bool
	}{
		{"fork", "/far", true}, {"fork", "/farther", false}, {"fork", "/far/sub", false}, {"fork/sub", "/far/sub", true},
		{"fork/sub", "/other", false}, {"other", "/far", false}, {"forked", "/far", false},
	} {
		if err := approved(context(own + "," + external(c.rule, c.target))); (err == nil) != c.want {
			t.Errorf("%s → %s: %v", c.rule, c.target, err)
		}
	}
}

// put writes the approval store of a workspace.
func put(t *testing.T, root, text string) {
	t.Helper()
	dir, err := userdir.For(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(string(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir.Approvals(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// apartFrom is the directory of runs where TMPDIR names shared memory, which a tool has for itself on Linux.
func apartFrom(dir, elsewhere string) string {
	if _, err := os.Stat(dir); err == nil && runtime.GOOS != "linux" {
		return dir
	}
	return elsewhere
}

// TestRunsIn: the directories of runs are where TMPDIR says unless tools come there: in a workspace, in what was one,
// in the target of an approval, in accessc's state, also over symlinks and by a relative name, or have other memory
// there, or nothing is there. Then they are elsewhere, and without any such place no tool starts.
func TestRunsIn(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	t.Setenv("HOME", at("home"))
	t.Setenv("XDG_STATE_HOME", at("home/state"))
	was, err := userdir.For(at("was"))
	if err != nil {
		t.Fatal(err)
	}
	mine := string(was)
	for _, d := range []string{"ws/tmp", "other/.git", "other/tmp", "was/tmp", "shared/fork/tmp", "shared/tmp", "free/tmp", mine} {
		if !filepath.IsAbs(d) {
			d = at(d)
		}
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	approve := func(targets ...string) {
		list := make([]string, len(targets))
		for i, target := range targets {
			list[i] = `{"rule_path":"fork` + strings.Repeat("x", i) + `","canonical_target":"` + target + `"}`
		}
		if err := os.WriteFile(filepath.Join(mine, "approvals.json"), []byte(`{"mounts":[`+strings.Join(list, ",")+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	approve(at("shared/fork"))
	for link, to := range map[string]string{"in": "ws/tmp", "free/out": "tmp"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(at("ws"))
	elsewhere, err := filepath.EvalSymlinks("/tmp")
	if err != nil {
		t.Fatal(err)
	}
	for tmp, want := range map[string]string{
		at("ws"): elsewhere, at("ws/tmp"): elsewhere, "tmp": elsewhere, at("in"): elsewhere, at("other/tmp"): elsewhere, at("was/tmp"): elsewhere,
		at("shared/fork/tmp"): elsewhere, at("home/state/accessc"): elsewhere, at("shared/tmp"): at("shared/tmp"), at("free/out"): at("free/tmp"),
		at("free/tmp"): at("free/tmp"), at("none"): elsewhere, at("ws/none"): elsewhere, "/proc/version": elsewhere, "/dev/shm": apartFrom("/dev/shm", elsewhere),
	} {
		t.Setenv("TMPDIR", tmp)
		if got, err := RunsIn(at("ws")); err != nil || got != want {
			t.Errorf("TMPDIR=%s: in %s, not %s: %v", tmp, got, want, err)
		}
	}
	approve("/")
	t.Setenv("TMPDIR", at("ws/tmp"))
	if got, err := RunsIn(at("ws")); err == nil || !strings.Contains(err.Error(), at("ws/tmp")+" lies in the workspace") || !strings.Contains(err.Error(), "let TMPDIR be elsewhere") {
		t.Errorf("in %s where every place is a tool's: %v", got, err)
	}
}
