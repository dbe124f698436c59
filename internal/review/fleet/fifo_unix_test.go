//go:build unix

package fleet_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNotWaitedFor: a FIFO of a manifest's name, a device, a file of a gigabyte and directories that cannot be listed are
// problems at once.
func TestNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"fifo", "large", "directory/manifest.json", "closed"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	large, err := os.Create(dir + "/large/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(unix.Mkfifo(dir+"/fifo/manifest.json", 0o644), large.Truncate(1<<30), large.Close()); err != nil {
		t.Fatal(err)
	}
	want := []string{"fifo/manifest.json  manifest.unreadable", "large/manifest.json  manifest.unreadable"}
	if os.Geteuid() != 0 {
		if err := os.Chmod(dir+"/closed", 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir+"/closed", 0o700)
		want = append([]string{"closed  directory.unreadable"}, want...)
	}
	if got := problems(dir, survey(t, dir)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
