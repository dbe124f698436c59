package supervisor

import (
	"encoding/binary"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// sockets answers the calls that connect sockets and let them be reached.
type sockets struct{ *call }

// whyNameless is the reason for refusing sockets that no rule is about.
const whyNameless = "a unix address without a file is nothing that a rule names"

// maxAddress is the largest socket address that the kernel takes (struct sockaddr_storage).
const maxAddress = 128

// address reads the socket address of a call.
func (c sockets) address() ([]byte, unix.Errno) {
	n := int(int32(uint32(c.args[2])))
	if n < 2 || n > maxAddress {
		return nil, unix.EINVAL
	}
	return c.bytes(c.args[1], n)
}

// socket duplicates the socket of a call, which must be of a family and type that the
// supervisor knows, however it was made.
func (c sockets) socket() (fd, family int, e unix.Errno) {
	if fd, e = c.duplicate(dirfd(c.args[0])); e != 0 {
		return -1, 0, e
	}
	family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return -1, 0, errno(err)
	}
	kind, err1 := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	protocol, err2 := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PROTOCOL)
	stream := kind == unix.SOCK_STREAM && protocol == unix.IPPROTO_TCP
	switch {
	case err1 != nil || err2 != nil:
		return -1, 0, unix.EACCES
	case family == unix.AF_UNIX && (kind == unix.SOCK_STREAM || kind == unix.SOCK_SEQPACKET):
	case (family == unix.AF_INET || family == unix.AF_INET6) && stream:
	default:
		c.deny("a socket that is neither a connected unix socket nor TCP")
		return -1, 0, unix.EACCES
	}
	return fd, family, 0
}

// connect judges the supervisor's copy of the address and connects its duplicate of the socket.
func (c sockets) connect() answer {
	raw, e := c.address()
	if e != 0 {
		return fails(e)
	}
	fd, family, e := c.socket()
	if e != 0 {
		return fails(e)
	}
	asked := int(binary.NativeEndian.Uint16(raw))
	switch {
	case family == unix.AF_UNIX && asked == unix.AF_UNIX:
		return c.dial(fd, raw)
	case family == unix.AF_UNIX:
		return c.inquire(fd, raw)
	case asked == family || family == unix.AF_INET6 && asked == unix.AF_INET:
		if to, ok := internet(raw); ok {
			return c.reach(fd, to, raw)
		}
	}
	return c.denies(unix.EACCES, "an address of another family than the socket's")
}

// internet reads an address of struct sockaddr_in or sockaddr_in6.
func internet(raw []byte) (netip.AddrPort, bool) {
	const v4, v6 = 16, 28
	var addr netip.Addr
	switch family := binary.NativeEndian.Uint16(raw); {
	case family == unix.AF_INET && len(raw) >= v4:
		addr = netip.AddrFrom4([4]byte(raw[4:8]))
	case family == unix.AF_INET6 && len(raw) >= v6:
		addr = netip.AddrFrom16([16]byte(raw[8:24]))
	default:
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(addr, binary.BigEndian.Uint16(raw[2:])), true
}

// reach connects to an address: to itself, where a rule lists it or the tool listens there, or
// to the egress proxy, which knows hosts by their names.
func (c sockets) reach(fd int, to netip.AddrPort, raw []byte) answer {
	to, raw, e := aimed(fd, to, raw)
	if e != 0 {
		return fails(e)
	}
	direct := c.policy.connect(to, c.listeners.own(c.tid, to))
	if v4, ok := c.listeners.mapped(to); ok && !direct.allowed() {
		to, raw = v4, sockaddr(unix.AF_INET6, v4)
		direct = c.policy.connect(to, c.listeners.own(c.tid, to))
	}
	switch {
	case direct.allowed():
	case c.policy.listen(to).allowed() && c.listeners.nobody(c.tid, to):
		return fails(unix.ECONNREFUSED) // as programs are told that ask until a server of their own is there
	case c.egress != nil:
		return answer{wait: func() answer { return c.route(fd, to) }}
	}
	switch {
	case !c.permits(direct):
		return fails(unix.EACCES)
	case !c.current():
		return fails(unix.EINTR)
	}
	return answer{wait: func() answer { return result(c.do(func() error { return connected(fd, raw) })) }}
}

// aimed replaces an address that stands for any by the address to which the kernel would connect the socket
// (ip_route_connect in net/ipv4, tcp_v6_connect in net/ipv6): the address that it is bound to, else the loopback
// address. The bytes are made from the result, so that the kernel decides nothing after the judgement.
// See decision D365.
func aimed(fd int, to netip.AddrPort, raw []byte) (netip.AddrPort, []byte, unix.Errno) {
	family := int(binary.NativeEndian.Uint16(raw))
	if to.Addr().Unmap().IsUnspecified() {
		from, e := localAddress(fd)
		if e != 0 {
			return to, nil, e
		}
		to = netip.AddrPortFrom(anywhere(to.Addr(), from.Addr()), to.Port())
	}
	exact := sockaddr(family, to)
	if family == unix.AF_INET6 {
		const scope = 24 // of struct sockaddr_in6: the interface of a link-local address
		copy(exact[scope:], raw[scope:scope+4])
	}
	return to, exact, 0
}

// anywhere is the address that an unspecified address stands for on a socket that is bound to
// another.
func anywhere(asked, from netip.Addr) netip.Addr {
	v4 := asked.Unmap().Is4()
	switch {
	case v4 && from.Unmap().Is4() && !from.Unmap().IsUnspecified():
		from = from.Unmap()
	case v4 || from.Is4In6():
		from = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	default:
		return netip.IPv6Loopback()
	}
	if asked.Is4() {
		return from
	}
	return netip.AddrFrom16(from.As16())
}

// loopback is the address of this host in the family of another address.
func loopback(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.IPv6Loopback()
}

// connected connects; a socket that does not block answers at once (EINPROGRESS), since the
// duplicate shares that flag.
func connected(fd int, raw []byte) error {
	_, _, e := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&raw[0])), uintptr(len(raw)))
	if e != 0 {
		return e
	}
	return nil
}

// bound binds to an address of the internet.
func bound(fd int, raw []byte) error {
	_, _, e := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&raw[0])), uintptr(len(raw)))
	if e != 0 {
		return e
	}
	return nil
}

// socketPath is the path of a unix address, false for an abstract or unnamed one
// (unix(7)).
func socketPath(raw []byte) (string, bool) {
	path := raw[2:]
	if len(path) == 0 || path[0] == 0 {
		return "", false
	}
	for i, b := range path {
		if b == 0 {
			return string(path[:i]), true
		}
	}
	return string(path), true
}

// dial connects to a socket file, which the policy must let be updated.
func (c sockets) dial(fd int, raw []byte) answer {
	path, ok := socketPath(raw)
	if !ok {
		return c.denies(unix.EACCES, whyNameless)
	}
	c.asked = append(c.asked, path)
	base, e := c.paths.base(unix.AT_FDCWD, path)
	if e != 0 {
		return fails(e)
	}
	n, e := c.paths.object(base, path, followed, 0)
	if e != 0 {
		return fails(e)
	}
	c.own = c.used != nil && c.socketFiles.holds(n.object)
	switch {
	case !c.permits(c.policy.decide(ir.Dial{On: c.box.at(where(n.object))})):
		return fails(unix.EACCES)
	case !c.current():
		return fails(unix.EINTR)
	}
	return answer{wait: func() answer {
		return result(c.do(func() error { return unix.Connect(fd, &unix.SockaddrUnix{Name: self(n.object)}) }))
	}}
}

// bind makes a socket file, or takes an address at which the tool may listen.
func (c sockets) bind() answer {
	raw, e := c.address()
	if e != 0 {
		return fails(e)
	}
	fd, family, e := c.socket()
	if e != 0 {
		return fails(e)
	}
	if to, ok := internet(raw); ok {
		return c.take(fd, family, to, raw)
	}
	asked := binary.NativeEndian.Uint16(raw)
	if asked == unix.AF_NETLINK && c.peers.standsFor(fd) == forNetlink {
		return c.numbered(raw)
	}
	if family != unix.AF_UNIX || asked != unix.AF_UNIX {
		return c.denies(unix.EACCES, "an address of another family than the socket's")
	}
	return c.file(fd, raw)
}

// file makes a socket file.
func (c sockets) file(fd int, raw []byte) answer {
	path, ok := socketPath(raw)
	if !ok {
		return c.denies(unix.EACCES, whyNameless)
	}
	c.asked = append(c.asked, path)
	base, e := c.paths.base(unix.AT_FDCWD, path)
	if e != 0 {
		return fails(e)
	}
	c.names.RLock()
	defer c.names.RUnlock()
	n, e := c.paths.name(base, path, kept)
	switch {
	case e != 0:
		return fails(e)
	case n.dir < 0 || n.object >= 0:
		return fails(unix.EADDRINUSE)
	case !c.permits(c.policy.decide(ir.Access{Cap: ir.Create, On: c.paths.place(n), Name: ir.NameFile})):
		return fails(unix.EACCES)
	case !c.current():
		return fails(unix.EINTR)
	}
	c.own = c.used != nil
	a := namings(&n)
	a.makes = true
	return result(c.change(a, func() error { return c.named(fd, n) }))
}

// named binds to a name in the directory that was judged. The only call for that binds to a
// path relative to the working directory, which only this thread has (see settle). The socket
// shows its last name only (getsockname(2)).
func (c sockets) named(fd int, n node) error {
	c.alone()
	// An O_PATH descriptor is enough for fchdir(2).
	if err := unix.Fchdir(n.dir); err != nil {
		return err
	}
	defer func() { _ = unix.Fchdir(c.box.root) }()
	c.umask()
	err := unix.Bind(fd, &unix.SockaddrUnix{Name: n.name})
	if err == nil && c.used != nil {
		c.socketFiles.bound(n.dir, n.name)
	}
	return err
}
