package start

import (
	"slices"

	"golang.org/x/sys/unix"
)

// checkDescriptors refuses standard descriptors that would reach the network under any filter:
// a datagram socket can send without connecting, and a stream socket that is not connected yet
// takes an address with its first data (MSG_FASTOPEN), or can be made to wait for connections.
func checkDescriptors(fds ...int) error {
	for number, fd := range fds {
		if slices.Contains(fds[:number], fd) {
			continue
		}
		domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
		if err != nil {
			continue
		}
		kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
		stream := kind == unix.SOCK_STREAM || kind == unix.SOCK_SEQPACKET
		// One that others connect to would let the tool be reached.
		waits, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
		_, unconnected := unix.Getpeername(fd)
		known := domain == unix.AF_UNIX || domain == unix.AF_INET || domain == unix.AF_INET6
		if err != nil || !stream || waits != 0 || unconnected != nil || !known {
			return failed("descriptor %d is a socket that reaches beyond a peer; connect it, or use a pipe or file", number)
		}
	}
	return nil
}
