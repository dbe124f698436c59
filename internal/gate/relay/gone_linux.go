package relay

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// gone reports whether no one writes to a pipe or socket any more, also while it has bytes that were not read (poll(2)).
func gone(in io.Reader) (is bool) {
	file, ok := in.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(p, 0)
		is = err == nil && n == 1 && p[0].Revents&(unix.POLLHUP|unix.POLLRDHUP|unix.POLLERR) != 0
	})
	return err == nil && is
}
