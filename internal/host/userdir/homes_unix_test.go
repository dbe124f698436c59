//go:build unix

package userdir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/internal/host/userdir"
)

// TestClearHomeStaysInside: clearing a home follows no symlink that a tool left there, removes
// directories that cannot be written, and removes nothing outside while a process swaps
// directories for symlinks.
func TestClearHomeStaysInside(t *testing.T) {
	base := t.TempDir()
	outside := filepath.Join(base, "outside")
	kept := filepath.Join(outside, "d", "file")
	mkdir := func(dir string) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mkdir(filepath.Dir(kept))
	if err := os.WriteFile(kept, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := userdir.Dir(filepath.Join(base, "state"))
	home := d.Home("t")
	swap := filepath.Join(home, "swap")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Symlink(outside, swap)
				_ = os.Remove(swap)
				_ = os.MkdirAll(filepath.Join(swap, "d"), 0o755)
				_ = os.Rename(swap, swap+"2")
			}
		}
	}()
	for range 200 {
		mkdir(filepath.Join(home, "closed", "in"))
		_ = os.Symlink(outside, filepath.Join(home, "closed", "out"))
		_ = os.Chmod(filepath.Join(home, "closed"), 0o500)
		_ = d.ClearHome("t") // may fail while the other process makes names
	}
	close(stop)
	<-done
	if err := d.ClearHome("t"); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(home); err == nil {
		t.Error("the home is still there")
	}
	if got, err := os.ReadFile(kept); err != nil || string(got) != "x" {
		t.Errorf("outside: %q, %v", got, err)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("outside: %v, %v", info, err)
	}
}
