//go:build unix && !linux

package prompt

import (
	"os"

	"golang.org/x/sys/unix"
)

// discard drops input that was typed but not read: TIOCFLUSH with FREAD (sys/fcntl.h).
func discard(f *os.File) { _ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, 1) }
