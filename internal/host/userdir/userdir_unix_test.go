//go:build unix

package userdir_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/host/userdir"
)

// TestDirectories has the directories where the XDG base directory specification puts them, and
// ignores variables with relative paths as it says.
func TestDirectories(t *testing.T) {
	for _, c := range []struct{ state, home, want string }{
		{"/s", "/h", "/s/accessc"},
		{"", "/h", "/h/.local/state/accessc"},
		{"s", "/h", "/h/.local/state/accessc"},
		{"", "", ""},
		{"", "h", ""},
		{"s", "h", ""},
	} {
		t.Setenv("XDG_STATE_HOME", c.state)
		t.Setenv("HOME", c.home)
		root, err := userdir.Root()
		if root != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, root, err)
		}
		journals, err := userdir.Journals()
		if err == nil && journals != c.want+"/journal" || (err == nil) != (c.want != "") {
			t.Errorf("%+v: journals %q, %v", c, journals, err)
		}
		dir, err := userdir.For("/ws/a b")
		if got := string(dir); err == nil && !strings.HasPrefix(got, c.want+"/workspaces/a_b-") || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// TestNamesOfWorkspaces keeps workspaces apart that are called alike, and names of any length
// and alphabet in what every file system takes.
func TestNamesOfWorkspaces(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/s")
	seen := map[userdir.Dir]string{}
	for _, root := range []string{"/a/work", "/b/work", "/a/wörk", "/a/w\nrk", "/a/" + strings.Repeat("x", 300), "/Aa-_09"} {
		dir, err := userdir.For(root)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[dir]; ok {
			t.Errorf("%q and %q share %s", root, other, dir)
		}
		seen[dir] = root
		name := filepath.Base(string(dir))
		if len(name) > 60 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			t.Errorf("%q: %q", root, name)
		}
	}
	if dir, err := userdir.For("/Aa-_09"); err != nil || !strings.HasPrefix(filepath.Base(string(dir)), "Aa-_09-") {
		t.Errorf("%q, %v", dir, err)
	}
}

// TestUserConfig: a relative XDG_CONFIG_HOME counts as none, and the layer and attestation.toml of the user stay those
// below the home. Both were left out by such a variable.
func TestUserConfig(t *testing.T) {
	t.Setenv("HOME", "/h")
	t.Setenv("XDG_CONFIG_HOME", "")
	unset := userdir.UserConfig()
	if !strings.HasPrefix(unset, "/h/") {
		t.Errorf("without a variable: %q", unset)
	}
	for value, want := range map[string]string{"/c": "/c/accessc/config.toml", "c": unset, "./c": unset} {
		t.Setenv("XDG_CONFIG_HOME", value)
		if got := userdir.UserConfig(); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	t.Setenv("XDG_CONFIG_HOME", "")
	for _, home := range []string{"", "."} {
		t.Setenv("HOME", home)
		if got := userdir.UserConfig(); got != "" {
			t.Errorf("with the home %q: %q", home, got)
		}
	}
}
