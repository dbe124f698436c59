//go:build unix

package start

import (
	"io/fs"
	"os"
	"testing"
)

// TestPrivate: a home whose mode its tool has changed is made private again, and anything but a directory of this user
// is refused. A tool that let others write to a shared home kept all others from starting.
func TestPrivate(t *testing.T) {
	for _, mode := range []fs.FileMode{0o700, 0o777, 0o755, 0o770, 0o500, 0, 0o777 | fs.ModeSticky, 0o700 | fs.ModeSetgid} {
		dir := t.TempDir() + "/home"
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := private(dir); err != nil {
			t.Errorf("%v: %v", mode, err)
		}
		if info, err := os.Lstat(dir); err != nil || info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("%v is %v then (%v)", mode, info.Mode(), err)
		}
	}
	at := t.TempDir()
	if err := os.Mkdir(at+"/dir", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(at+"/dir", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("dir", at+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := private(at + "/link"); err == nil {
		t.Error("a link is taken for the home")
	}
	if info, err := os.Lstat(at + "/dir"); err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("where the link leads: %v, %v", info, err)
	}
}
