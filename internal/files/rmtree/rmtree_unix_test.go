//go:build unix

package rmtree

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// tree makes a directory with a victim beside it, to which a link in it leads, and with a directory in it that its
// owner cannot list.
func tree(t *testing.T) (dir, victim string) {
	t.Helper()
	at := t.TempDir()
	dir, victim = at+"/dir", at+"/victim"
	for _, d := range []string{victim, dir + "/sub/closed/in", dir + "/sub/mount"} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{victim + "/file", dir + "/file", dir + "/sub/closed/in/file"} {
		if err := os.WriteFile(f, []byte("text"), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(os.Symlink(victim, dir+"/sub/link"),
		os.Chmod(dir+"/sub/closed/in", 0o500), os.Chmod(dir+"/sub/closed", 0))
	if err != nil {
		t.Fatal(err)
	}
	return dir, victim
}

func whole(t *testing.T, victim string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(victim, "file")); err != nil {
		t.Errorf("the victim: %v", err)
	}
}

// TestRemove: everything goes, however its modes are, and nothing to which a link leads.
func TestRemove(t *testing.T) {
	for name, remove := range map[string]func(string) error{
		"all":   Remove,
		"small": func(dir string) error { return RemoveSmall(dir, 4, 100) },
		"below": func(dir string) error {
			root, err := os.OpenRoot(filepath.Dir(dir))
			if err != nil {
				return err
			}
			defer root.Close()
			return RemoveIn(root, "./dir")
		},
	} {
		dir, victim := tree(t)
		if err := remove(dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(dir); err == nil {
			t.Errorf("%s: it is left", name)
		}
		whole(t, victim)
		if err := remove(dir); err != nil {
			t.Errorf("%s: of nothing: %v", name, err)
		}
	}
}

// TestRemoveSmall: a tree that is deep or large is left to others.
func TestRemoveSmall(t *testing.T) {
	for _, bounds := range [][2]int{{2, 100}, {4, 2}} {
		dir, _ := tree(t)
		if err := RemoveSmall(dir, bounds[0], bounds[1]); err == nil {
			t.Errorf("%v: removed", bounds)
		}
		if err := Remove(dir); err != nil {
			t.Error(err)
		}
	}
}

// TestRemoveNoName: without a name nothing is removed, nor where the name is no entry's.
func TestRemoveNoName(t *testing.T) {
	dir, _ := tree(t)
	t.Chdir(dir)
	for _, name := range []string{"", ".", "./", "..", "sub/..", "sub/../..", "/"} {
		if err := RemoveSmall(name, 1, 0); (err == nil) != (name == "") {
			t.Errorf("%q: %v", name, err)
		}
		if name == "/" {
			continue
		}
		if err := Remove(name); (err == nil) != (name == "") {
			t.Errorf("%q: %v", name, err)
		}
		root, err := os.OpenRoot(".")
		if err != nil {
			t.Fatal(err)
		}
		if err := RemoveIn(root, name); err == nil {
			t.Errorf("%q in a root: removed", name)
		}
		_ = root.Close()
		whole(t, dir)
	}
}
