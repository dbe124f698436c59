//go:build unix

package approvals

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestGuards: a store that another user could have written is neither read nor replaced, and
// the message names the reason.
func TestGuards(t *testing.T) {
	const evil = `{"mounts": [{"rule_path": "fork", "canonical_target": "/etc"}]}`
	for _, c := range []struct {
		name, want string
		// prepare makes the store at path; it reports false where it cannot be made.
		prepare func(path string) bool
	}{
		{"symlink", "a symlink, expected a regular file", func(path string) bool {
			other := path + ".other"
			return os.WriteFile(other, []byte(evil), 0o600) == nil && os.Symlink(other, path) == nil
		}},
		{"symlink to nothing", "a symlink, expected a regular file", func(path string) bool {
			return os.Symlink("nowhere", path) == nil
		}},
		{"directory", "not a regular file", func(path string) bool {
			return os.MkdirAll(filepath.Join(path, "kept"), 0o700) == nil
		}},
		{"FIFO", "not a regular file", func(path string) bool {
			return syscall.Mkfifo(path, 0o600) == nil
		}},
		{"others may write it", "others may write it (mode 0622)", func(path string) bool {
			return os.WriteFile(path, []byte(evil), 0o600) == nil && os.Chmod(path, 0o622) == nil
		}},
		{"others may write its directory", "others may write it (mode 0770)", func(path string) bool {
			return os.WriteFile(path, []byte(evil), 0o600) == nil && os.Chmod(filepath.Dir(path), 0o770) == nil
		}},
		// A state directory above that every user could write was taken.
		{"everybody may write above", "chmod o-w ", func(path string) bool {
			return os.WriteFile(path, []byte(evil), 0o600) == nil && os.Chmod(filepath.Dir(filepath.Dir(path)), 0o777) == nil
		}},
		{"everybody may write above where it leads", "chmod o-w ", func(path string) bool {
			real := filepath.Join(filepath.Dir(filepath.Dir(path)), "open", "real")
			return os.MkdirAll(real, 0o700) == nil && os.Chmod(filepath.Dir(real), 0o777) == nil &&
				os.WriteFile(filepath.Join(real, filepath.Base(path)), []byte(evil), 0o600) == nil &&
				os.Remove(filepath.Dir(path)) == nil && os.Symlink(real, filepath.Dir(path)) == nil
		}},
		{"foreign", "belongs to user 12345", func(path string) bool {
			return os.WriteFile(path, []byte(evil), 0o600) == nil && os.Chown(path, 12345, -1) == nil
		}},
		{"foreign directory", "belongs to user 12345", func(path string) bool {
			return os.WriteFile(path, []byte(evil), 0o600) == nil && os.Chown(filepath.Dir(path), 12345, -1) == nil
		}},
		{"unreadable", "permission denied", func(path string) bool {
			return os.Geteuid() != 0 && os.WriteFile(path, []byte(evil), 0) == nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := newPath(t)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if !c.prepare(path) {
				// Root may read everything, and only root can give files away.
				t.Skipf("user %d cannot make this", os.Geteuid())
			}
			before, _ := os.Lstat(path)
			s, err := Load(path)
			if err == nil || !strings.Contains(err.Error(), c.want) || len(s.Mounts()) > 0 {
				t.Errorf("loaded %v, %v", s.Mounts(), err)
			}
			if _, err := Update(path, approve("fork", "/code")); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("updated: %v", err)
			}
			if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) || after.ModTime() != before.ModTime() {
				t.Errorf("it was touched: %v, %v", after, err)
			}
		})
	}
}

// TestRootsDirectory: files of the administrator are not the user's own either.
func TestRootsDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root owns it")
	}
	if _, err := Load("/etc/approvals.json"); err == nil || !strings.Contains(err.Error(), "belongs to user 0") {
		t.Error(err)
	}
}

// TestNoDirectory: a state directory that cannot be made is an error that says so.
func TestNoDirectory(t *testing.T) {
	path := newStore(t, "{}")
	if _, err := Update(filepath.Join(path, "x", "approvals.json"), approve("fork", "/code")); err == nil {
		t.Error("no error")
	}
	if _, err := Load(filepath.Join(path, "approvals.json")); err == nil {
		t.Error("no error")
	}
}

// TestLockHeld: a writer that was stopped makes others give up, not hang.
func TestLockHeld(t *testing.T) {
	path := newStore(t, "{}")
	f, err := os.OpenFile(path+lockSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := lockWithin(path+lockSuffix, 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), lockSuffix) {
		t.Error(err)
	}
	_ = f.Close()
	unlock, err := lockWithin(path+lockSuffix, patience)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestPassingErrors: a store that could not be read for want of descriptors may approve anything, whatever it holds.
func TestPassingErrors(t *testing.T) {
	path := newStore(t, `{"mounts": []}`)
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EIO, syscall.ENOMEM} {
		if _, known := Mentions(path, "/x", &os.PathError{Op: "open", Path: path, Err: err}); known {
			t.Errorf("%v is taken for a matter of the store", err)
		}
	}
}
