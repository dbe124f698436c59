package evidencelog

import (
	"os"
	"syscall"
)

// Identity is the device and inode of a file, 0 where they are unknown.
func Identity(info os.FileInfo) (device, inode uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return st.Dev, st.Ino
}
