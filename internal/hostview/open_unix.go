//go:build unix

package hostview

import (
	"os"
	"syscall"
)

// openFlags open without waiting: open(2) of a FIFO blocks until a writer comes.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_CLOEXEC
