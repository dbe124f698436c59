package prompt

import (
	"os"

	"golang.org/x/sys/unix"
)

// discard drops input that was typed but not read (tcflush(3)).
func discard(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
