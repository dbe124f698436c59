//go:build unix

package wholefile

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpen: a file of another kind that takes the place of a file after a look is not waited for, and not read.
func TestOpen(t *testing.T) {
	at := t.TempDir()
	if err := os.WriteFile(at+"/file", []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(at+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("fifo", at+"/link"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"file": true, "fifo": false, "link": false, ".": false, "none": false} {
		f, err := Open(at + "/" + name)
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = f.Close()
		}
	}
}
