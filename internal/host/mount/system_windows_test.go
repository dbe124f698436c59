package mount

import (
	"io/fs"
	"os"
	"testing"
)

// owner: there is no root here, and TestOwner is skipped.
func owner(fs.FileInfo) [2]uint32 { return [2]uint32{} }

// tempDir is a directory that is removed as far as that goes: Wine 8.0 lets os.RemoveAll,
// and with it testing's own directories, fail with "Invalid function" (measured 2026-11).
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mount")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
