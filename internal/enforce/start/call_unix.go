//go:build unix

package start

import (
	"os"

	"golang.org/x/sys/unix"
)

// openCall opens a file, and a pipe without waiting for who writes to it.
func openCall(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
}
