//go:build unix

package layerfile

import (
	"io/fs"
	"os"
	"syscall"
)

// noWait opens without waiting: open(2) of a FIFO blocks until a writer comes.
const noWait = syscall.O_NONBLOCK

// keepOwner gives a file the owner of the file that it replaces, which only root can
// (chown(2)): root that mounts in a user's workspace leaves the file to the user.
func keepOwner(f *os.File, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return f.Chown(int(st.Uid), int(st.Gid))
}
