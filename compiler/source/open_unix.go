//go:build unix

package source

import (
	"os"
	"syscall"
)

// openLayer opens without waiting: open(2) of a FIFO blocks until a writer comes.
func openLayer(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
}
