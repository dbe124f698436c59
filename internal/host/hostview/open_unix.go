//go:build unix

package hostview

import (
	"os"
	"syscall"
)

// openFlags open without waiting: open(2) of a FIFO blocks until a writer comes.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_CLOEXEC

// isOwned is Owned, without keeping the answer.
func isOwned(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o002 == 0
}
