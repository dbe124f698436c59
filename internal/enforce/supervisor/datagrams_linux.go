package supervisor

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// A tool has no datagram sockets of the internet. It gets one end of a pair of unix sockets in
// their place, whose other end the stub resolver serves, so that programs that ask name servers
// themselves get answers, and nothing else is ever sent.
// See decision D120.

// whyDatagram is the reason for refusing datagrams.
const whyDatagram = "datagrams reach no host; only questions to name servers are answered"

// whyPaired is the reason for refusing an address at a pair.
const whyPaired = "what a pair of datagram sockets sends goes to its other end alone"

// portDNS is the port of name servers (RFC 1035, 4.2.1).
const portDNS = 53

// datagram makes the pair for a call that asks for a datagram socket or a netlink socket.
func (c sockets) datagram() answer {
	switch {
	case c.args[0] == unix.AF_NETLINK:
		return c.netlink()
	case c.egress == nil:
		return c.placeholder()
	}
	if p := c.args[2]; p != 0 && p != unix.IPPROTO_UDP {
		return fails(unix.EPROTONOSUPPORT)
	}
	kind := unix.SOCK_SEQPACKET | unix.SOCK_CLOEXEC | int(c.args[1])&unix.SOCK_NONBLOCK
	pair, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
	if err != nil {
		return result(err)
	}
	_ = unix.SetNonblock(pair[1], true)
	err = c.egress.resolver(pair[1], c.by())
	_ = unix.Close(pair[1])
	if err != nil {
		_ = unix.Close(pair[0])
		return c.denies(errEnded, whyEnded)
	}
	c.peers.stand(pair[0], forDatagrams)
	return answer{hand: true, writes: true, fd: pair[0], closeOn: c.args[1]&unix.SOCK_CLOEXEC != 0}
}

// inquire connects such a socket: to a name server, any of which the stub resolver stands for.
// Programs also connect datagram sockets to learn by which of their own addresses they would
// reach a host; for them there is no route (RFC 6724).
func (c sockets) inquire(fd int, raw []byte) answer {
	switch binary.NativeEndian.Uint16(raw) {
	case unix.AF_UNSPEC, unix.AF_NETLINK:
		return answer{}
	}
	to, ok := internet(raw)
	switch {
	case !ok:
		return fails(unix.EAFNOSUPPORT)
	case c.egress == nil:
		return c.closed(fd, to)
	case to.Port() != portDNS:
		return fails(unix.ENETUNREACH)
	}
	c.peers.remember(fd, to)
	return answer{}
}

// sendto judges data with an address. The kernel ignores the addresses of connected sockets, and
// a tool has no others, so the call goes on.
func (c sockets) sendto() answer {
	n := int(int32(uint32(c.args[5])))
	if n < 2 || n > maxAddress {
		return proceed
	}
	raw, e := c.bytes(c.args[4], n)
	if e != 0 {
		return fails(e)
	}
	fd, family, e := c.socket()
	if e != 0 {
		return fails(e)
	}
	to, ok := internet(raw)
	switch {
	case family == unix.AF_UNIX && c.peers.standsFor(fd) == forPair:
		return c.denies(unix.EACCES, whyPaired)
	case family != unix.AF_UNIX || !ok:
		return proceed
	}
	if to.Port() != portDNS {
		c.asked = append(c.asked, to.String())
		return c.denies(unix.EACCES, whyDatagram)
	}
	c.peers.remember(fd, to)
	return proceed
}

// sendmsg judges data whose address is in memory, from a stand-in for datagrams: the kernel ignores the address
// there, so data for any host seemed to be sent. Whatever an address is changed to meanwhile, data goes only to
// the resolver. See decision D120.
func (c sockets) sendmsg() answer { return c.sends(1) }

// sendmmsg judges several such messages.
func (c sockets) sendmmsg() answer {
	return c.sends(int(min(c.args[2]&(1<<32-1), maxMessages)))
}

// maxMessages is how many messages sendmmsg(2) sends at most (UIO_MAXIOV).
const maxMessages = 1024

func (c sockets) sends(messages int) answer {
	if c.peers.none() {
		return proceed
	}
	fd, family, e := c.socket()
	if e != 0 || family != unix.AF_UNIX {
		return proceed
	}
	as := c.peers.standsFor(fd)
	if as != forDatagrams && as != forPair {
		return proceed
	}
	_, connected := c.peers.peer(fd)
	const each = 64 // struct mmsghdr, which begins with struct msghdr
	for n := range messages {
		head, e := c.bytes(c.args[1]+uint64(n*each), msgNameSize+4)
		if e != 0 {
			return fails(e)
		}
		at, size := binary.NativeEndian.Uint64(head), binary.NativeEndian.Uint32(head[msgNameSize:])
		if at == 0 || size < 2 || size > maxAddress {
			if as == forDatagrams && !connected {
				return fails(unix.EDESTADDRREQ)
			}
			continue
		}
		raw, e := c.bytes(at, int(size))
		switch {
		case e != 0:
			return fails(e)
		case as == forPair:
			return c.denies(unix.EACCES, whyPaired)
		}
		to, ok := internet(raw)
		if ok && to.Port() != portDNS {
			c.asked = append(c.asked, to.String())
			return c.denies(unix.EACCES, whyDatagram)
		}
		if ok {
			c.peers.remember(fd, to)
		}
	}
	return proceed
}

// setsockopt accepts options of datagram sockets for the sockets that stand for them.
func (c sockets) setsockopt() answer {
	_, family, e := c.socket()
	switch {
	case e != 0:
		return fails(e)
	case family == unix.AF_UNIX:
		return answer{}
	}
	return proceed
}

// getpeername tells a tool the address that it has asked for: connections lead to the proxy.
func (c sockets) getpeername() answer {
	fd, family, e := c.socket()
	if e != 0 {
		return proceed
	}
	to, ok := c.peers.peer(fd)
	if _, err := unix.Getpeername(fd); !ok || err != nil {
		return proceed
	}
	if family == unix.AF_UNIX {
		family = familyOf(to)
	}
	return fails(c.putCounted(c.args[1], c.args[2], sockaddr(family, to)))
}
