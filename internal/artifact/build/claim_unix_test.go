//go:build unix

package build_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/artifact/build"
)

// TestPlantedStages: a repository that has files in the place of stages has them removed where they have the names
// of stages, and named by verify where they do not. Nothing else is touched, opened or waited for.
func TestPlantedStages(t *testing.T) {
	outside := t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "mine"), []byte("mine"), 0o600))
	before := list(t, outside)
	dir := t.TempDir()
	name := func(c string) string { return filepath.Join(dir, ".accessc", strings.Repeat(c, 26)) }
	must(t, os.MkdirAll(filepath.Join(name("A"), "deep", "er"), 0o755))
	must(t, os.WriteFile(filepath.Join(name("A"), "deep", "old0"), []byte("x"), 0o644))
	must(t, os.Symlink(outside, filepath.Join(name("A"), "deep", "link")))
	must(t, os.Symlink(outside, name("B")))
	must(t, unix.Mkfifo(name("B")+".lock", 0o644))
	must(t, os.MkdirAll(name("C"), 0o755))
	must(t, os.Symlink(filepath.Join(outside, "mine"), name("C")+".lock"))
	must(t, unix.Mkfifo(name("D"), 0o644))
	must(t, os.WriteFile(name("D")+".lock", nil, 0o644))
	must(t, os.MkdirAll(filepath.Join(name("E")+".lock", "sub"), 0o755))
	must(t, os.Symlink("../manifest.json", name("F")+".lock"))
	must(t, os.WriteFile(filepath.Join(dir, ".accessc", "notes.txt"), []byte("n"), 0o644))
	write(t, request(program("one")), dir)
	if d := cmp.Diff([]string{"notes.txt"}, stagesIn(t, dir)); d != "" {
		t.Errorf("(-want +left):\n%s", d)
	}
	if s := strangers(t, dir); s != ".accessc/notes.txt is not attested" {
		t.Errorf("verify says %q", s)
	}
	if d := cmp.Diff(before, list(t, outside)); d != "" {
		t.Errorf("outside (-before +after):\n%s", d)
	}
	want := freshly(t, program("one"))
	want[".accessc/notes.txt"] = "n"
	if d := cmp.Diff(want, snapshot(t, dir)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestPlantedManifest: a staged manifest takes files away that no manifest in place lists and that have the hash which it
// names, since a killed build has put those into place. Of a planted one that is the limit.
func TestPlantedManifest(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "access")
	stage := filepath.Join(dir, ".accessc", strings.Repeat("A", 26))
	hash, tools := build.Hash([]byte("x")), []string{}
	lists := func(tool, file, hash string) {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"artifacts":{%q:%q}}`, tool, file, hash))
	}
	files := map[string]bool{ // whether they stay
		"../outside/a": true, "own/a": true, "own/sub/a": true, "linked/a": true, "other/a": true, "left/a": false, "left/b": true,
	}
	for path := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, path), []byte("x"), 0o644))
	}
	must(t, os.Symlink("../outside", filepath.Join(dir, "led")))
	must(t, os.Remove(filepath.Join(dir, "linked", "a")))
	must(t, os.Symlink("../own/a", filepath.Join(dir, "linked", "a")))
	write(t, request(program("one")), dir)
	lists("../outside", "a", hash)
	lists("led", "a", hash)
	lists("..", "manifest.json", hash)
	lists("own", "sub/a", hash)
	lists("own", "sub", hash)
	lists("own", "..", hash)
	lists("linked", "a", hash)
	lists("other", "a", build.Hash([]byte("y")))
	lists("left", "a", hash)
	one, err := os.ReadFile(filepath.Join(dir, "one", "context.json"))
	must(t, err)
	lists("one", "context.json", build.Hash(one))
	must(t, os.MkdirAll(stage, 0o755))
	must(t, os.WriteFile(filepath.Join(stage, "manifest"), []byte(`{"tools":[`+strings.Join(tools, ",")+`]}`), 0o644))
	files["one/context.json"] = true
	write(t, request(program("one")), dir)
	for path, stays := range files {
		if _, err := os.Lstat(filepath.Join(dir, path)); (err == nil) != stays {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Lstat(stage); err == nil {
		t.Error("the stage is left")
	}
}

// TestStagesBehindALink: verify does not look through a symlink that stands in the place of stages, and a build that
// needs none leaves its target alone.
func TestStagesBehindALink(t *testing.T) {
	dir := t.TempDir()
	write(t, request(program("one")), dir)
	must(t, os.MkdirAll(filepath.Join(dir, "one", strings.Repeat("A", 26)), 0o755))
	must(t, os.Symlink("one", filepath.Join(dir, ".accessc")))
	if s := strangers(t, dir); s != ".accessc is not attested" {
		t.Errorf("verify says %q", s)
	}
	before := list(t, dir)
	write(t, request(program("one")), dir)
	if d := cmp.Diff(before, list(t, dir)); d != "" {
		t.Errorf("(-before +after):\n%s", d)
	}
}
