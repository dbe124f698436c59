package tool

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutside: a place that a rule names by itself is asked for by that name and opened below the
// approved target, except for the paths that a rule takes away; no other path of the home is opened.
func TestOutside(t *testing.T) {
	const rules = `{"lexical_path": "~/.cargo", "external": true, "approved_target": "ROOT/cargo", "read": true, "update": true},
			{"lexical_path": "~/.cargo/secret"},
			{"lexical_path": "/srv/data", "external": true, "approved_target": "ROOT/outside", "read": true},
			{"lexical_path": "./~/x"},`
	dir, first := lay(t), `{"lexical_path": "", "read": true},`
	c, err := Parse([]byte(strings.ReplaceAll(strings.Replace(policy, first, first+rules, 1), "ROOT", filepath.ToSlash(dir))))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"cargo/secret": "secret", "cargo/lib": "lib", "ws/~/x": "x", "ws/~/y": "y"} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "outside"), filepath.Join(dir, "cargo/nested")); err != nil {
		t.Fatal(err)
	}
	for ask, leads := range map[string]string{
		"~/.cargo/lib": "cargo/lib", "~/.cargo": "cargo", "~/.cargo/./x/../lib": "cargo/lib", "/srv/data/o": "outside/o", "./~/y": "ws/~/y",
	} {
		got, err := c.CheckRead(ask)
		if want := filepath.Join(dir, leads); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", ask, got, err, want)
		}
	}
	for ask, text := range map[string]string{
		"~/.cargo/secret":               "denied by the rule on ~/.cargo/secret",
		"~/.cargo/nested/o":             "a symlink leads to " + filepath.Join(dir, "outside/o"),
		"~/.ssh/key":                    "the path leaves the workspace",
		"~/.cargo/../.ssh/key":          "the path leaves the workspace",
		"~":                             "the path leaves the workspace",
		"/srv/database":                 "absolute paths are not permitted",
		filepath.Join(dir, "cargo/lib"): "absolute paths are not permitted",
		"./~/x":                         "denied by the rule on ~/x",
	} {
		if got, err := c.CheckRead(ask); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %s, %v; want %q", ask, got, err, text)
		}
	}
	f, err := c.Open("~/.cargo/lib")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if data, err := io.ReadAll(f); err != nil || string(data) != "lib" {
		t.Errorf("%q, %v", data, err)
	}
	if f, err := c.Open("~/.cargo/secret"); err == nil {
		f.Close()
		t.Error("a denied file was opened")
	}
	if _, err := c.CheckCreate("~/.cargo/new"); err == nil {
		t.Error("more is granted than the rule says")
	}
}
