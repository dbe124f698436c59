//go:build unix

package signers

import (
	"fmt"
	"os"
	"syscall"
)

// secret refuses an open file that others than this user may read or write.
func secret(info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if uid := os.Geteuid(); !ok || int(st.Uid) != uid && st.Uid != 0 {
		return fmt.Errorf("belongs to another user, expected %d", uid)
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return fmt.Errorf("others may read or write it (mode %04o); chmod go= closes it", perm)
	}
	return nil
}
