//go:build unix

package mount

import (
	"io/fs"
	"syscall"
	"testing"
)

// noLinks: every Unix makes symlinks.
func noLinks(testing.TB) error { return nil }

// owner returns user and group of a file.
func owner(info fs.FileInfo) [2]uint32 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return [2]uint32{}
	}
	return [2]uint32{st.Uid, st.Gid}
}

func tempDir(t testing.TB) string { return t.TempDir() }
