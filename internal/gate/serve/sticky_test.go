//go:build linux || darwin

package serve

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDirectoryOfSocket: the directory of a socket is one in which no other user makes names. The sticky bit keeps them
// from removing the socket, and not from making another one before it is there.
func TestDirectoryOfSocket(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for mode, good := range map[os.FileMode]bool{
		0o700: true, 0o755: true, 0o777: false, 0o770: false, os.ModeSticky | 0o777: false, os.ModeSticky | 0o770: false, os.ModeSticky | 0o755: true,
	} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := canonicalDir(dir); (err == nil) != good {
			t.Errorf("%v: %v", mode, err)
		}
	}
}
