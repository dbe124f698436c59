//go:build linux || darwin

package serve

import "net"

// peer is the user of the process at the other end, as of its connecting.
func peer(conn *net.UnixConn) (uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	if e := raw.Control(func(fd uintptr) { uid, err = user(int(fd)) }); e != nil {
		return 0, e
	}
	return uid, err
}
