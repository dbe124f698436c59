//go:build unix

package prompt

import (
	"os"

	"golang.org/x/sys/unix"
)

// open opens /dev/tty, which is the controlling terminal of the process (tty(4)). O_NONBLOCK
// stays off: the runtime then reads by plain read(2), which on a terminal waits for the line.
func open() (*Terminal, error) {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, ErrNone
	}
	// A process in the background that reads is stopped by SIGTTIN (termios(3)).
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		_ = unix.Close(fd)
		return nil, ErrNone
	}
	f := os.NewFile(uintptr(fd), "/dev/tty")
	return &Terminal{in: f, out: f}, nil
}
