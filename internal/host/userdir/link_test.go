package userdir_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/internal/host/userdir"
)

// TestLinkHome: a link is made in the home alone, also where the tool has put links of its own into it.
func TestLinkHome(t *testing.T) {
	d, outside := userdir.Dir(t.TempDir()), t.TempDir()
	for range 2 {
		if err := d.LinkHome("t", ".a/b", "/login"); err != nil {
			t.Fatal(err)
		}
	}
	if to, err := os.Readlink(filepath.Join(d.Home("t"), ".a/b")); to != "/login" {
		t.Error(to, err)
	}
	if err := d.LinkHome("t", ".a/b", "/other"); !errors.Is(err, userdir.ErrOther) {
		t.Error("another link was replaced: ", err)
	}
	if err := os.Symlink(outside, filepath.Join(d.Home("t"), ".out")); err != nil {
		t.Fatal(err)
	}
	if err := d.LinkHome("t", ".out/b", "/login"); err == nil {
		t.Error("a link leads out of the home")
	}
	if all, err := os.ReadDir(outside); err != nil || len(all) > 0 {
		t.Error(all, err)
	}
}
