package supervisor

import (
	"encoding/binary"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// By a netlink socket programs list the interfaces, addresses and routes of the host (rtnetlink(7)), as getifaddrs(3)
// does, and some end without: ZeroMQ, and Node's os.networkInterfaces. Other messages change them, reach other
// processes or listen to the kernel. So a tool gets an end of a pair of unix sockets instead, and the supervisor asks
// the kernel for such a list itself. /proc/self/net has the same.
// See decision D120.

// netlink makes the pair for a call that asks for a netlink socket as C libraries and Go do. The filter refuses others.
func (c sockets) netlink() answer {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return result(err)
	}
	number := numberOf(pair[0])
	c.peers.stand(pair[0], forNetlink)
	if !c.Supervisor.pairs.serve(c.Supervisor, pair[1], func(f *os.File) { lists(f, number) }) {
		_ = unix.Close(pair[0])
		return fails(unix.EMFILE)
	}
	return answer{hand: true, writes: true, fd: pair[0], closeOn: true}
}

// pair makes the pair that stands for unix datagram sockets. Those take an address with every message, by which they
// reach other processes; sockets of SOCK_SEQPACKET keep messages apart, and take none (unix(7)).
// See decision D120.
func (c sockets) pair() answer {
	old, e := c.bytes(c.args[3], 8) // int sv[2]
	if e == 0 {
		e = c.put(c.args[3], old)
	}
	switch {
	case c.args[0] != unix.AF_UNIX:
		return c.denies(unix.EACCES, whyDatagram)
	case e != 0:
		return fails(e)
	case c.args[2] != 0:
		return fails(unix.EPROTONOSUPPORT)
	}
	kind := unix.SOCK_SEQPACKET | unix.SOCK_CLOEXEC | int(c.args[1])&unix.SOCK_NONBLOCK
	ends, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
	if err != nil {
		return result(err)
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	if !c.current() {
		return fails(unix.EINTR)
	}
	var numbers []byte
	for _, end := range ends {
		c.peers.stand(end, forPair)
		n, e := c.listener.add(c.id, end, -1, c.args[1]&unix.SOCK_CLOEXEC != 0)
		if e != 0 {
			return fails(e)
		}
		numbers = binary.NativeEndian.AppendUint32(numbers, uint32(n))
	}
	return fails(c.put(c.args[3], numbers))
}

// numberOf is the number in netlink of such a socket, the same for all processes that have it. The kernel's own is 0.
func numberOf(fd int) uint32 {
	n, _ := cookie(fd)
	return uint32(n) | 1
}

// numbered binds such a socket, which has a number already. Nothing is heard of groups (netlink(7)).
func (c sockets) numbered(raw []byte) answer {
	const groups = 8 // of struct sockaddr_nl
	switch {
	case len(raw) < unix.SizeofSockaddrNetlink:
		return fails(unix.EINVAL)
	case binary.NativeEndian.Uint32(raw[groups:]) != 0:
		return c.denies(unix.EPERM, "what changes in the network of this host is not told")
	}
	return answer{}
}

// kernelAddress is the address of the kernel in netlink, and of a socket with a number (struct sockaddr_nl).
func kernelAddress(number uint32) []byte {
	out := binary.NativeEndian.AppendUint16(nil, unix.AF_NETLINK)
	out = binary.NativeEndian.AppendUint32(append(out, 0, 0), number)
	return append(out, 0, 0, 0, 0)
}

// lists answers the requests for lists that come by an end of a pair, until the other end, which has this number, is
// closed.
func lists(f *os.File, number uint32) {
	buf := make([]byte, maxRequest)
	for {
		n, err := f.Read(buf)
		if err != nil && (err != io.EOF || hungUp(f)) {
			return
		}
		for _, reply := range listed(buf[:n], number) {
			if _, err := f.Write(reply); err != nil {
				return
			}
		}
	}
}

// hungUp tells a closed pair from an empty message, which reads alike.
func hungUp(f *os.File) bool {
	gone := true
	c, err := f.SyscallConn()
	if err == nil {
		_ = c.Control(func(fd uintptr) {
			at := []unix.PollFd{{Fd: int32(fd)}}
			_, err := unix.Poll(at, 0)
			gone = err != nil || at[0].Revents != 0
		})
	}
	return gone
}

// maxRequest is the largest request that is read.
const maxRequest = 4096

// listed answers a request: by a message for each entry of a list and a last message, or by an error.
func listed(request []byte, number uint32) (out [][]byte) {
	const header = unix.SizeofNlMsghdr
	if len(request) < header {
		return nil
	}
	word, short := binary.NativeEndian.Uint32, binary.NativeEndian.Uint16
	kind, flags, sequence := short(request[4:]), short(request[6:]), word(request[8:])
	message := func(kind, flags uint16, body ...byte) []byte {
		m := binary.NativeEndian.AppendUint32(nil, uint32(header+len(body)))
		m = binary.NativeEndian.AppendUint16(binary.NativeEndian.AppendUint16(m, kind), flags)
		m = binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(m, sequence), number)
		return append(m, body...)
	}
	refuse := func(e unix.Errno) [][]byte {
		code := binary.NativeEndian.AppendUint32(nil, -uint32(e))
		return [][]byte{message(unix.NLMSG_ERROR, 0, append(code, request[:header]...)...)}
	}
	switch kind {
	case unix.RTM_GETLINK, unix.RTM_GETADDR, unix.RTM_GETROUTE:
	default:
		return refuse(unix.EPERM)
	}
	if flags&unix.NLM_F_DUMP != unix.NLM_F_DUMP || len(request) == header {
		return refuse(unix.EOPNOTSUPP)
	}
	family := int(request[header])
	if kind == unix.RTM_GETLINK {
		family = unix.AF_UNSPEC
	}
	table, err := syscall.NetlinkRIB(int(kind), family)
	all, err2 := syscall.ParseNetlinkMessage(table)
	if err != nil || err2 != nil {
		return refuse(unix.EAGAIN)
	}
	for _, m := range all {
		if m.Header.Type >= unix.NLMSG_MIN_TYPE {
			out = append(out, message(m.Header.Type, m.Header.Flags, m.Data...))
		}
	}
	return append(out, message(unix.NLMSG_DONE, unix.NLM_F_MULTI, 0, 0, 0, 0))
}
