package supervisor

import (
	"encoding/binary"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// Resolvers other than glibc's compare the sender of an answer with the server that they
// asked (musl, c-ares). The kernel names no sender for a pair of unix sockets, so the supervisor
// receives for the pairs that stand for datagrams.

// standIn duplicates the socket of a call if it stands for a socket of datagrams or of netlink, and returns its own
// address and the server's that it has asked.
func (c sockets) standIn() (fd int, own, server []byte, ok bool) {
	if c.peers.none() {
		return -1, nil, nil, false
	}
	fd, family, e := c.socket()
	if e != 0 || family != unix.AF_UNIX {
		return -1, nil, nil, false
	}
	if c.peers.standsFor(fd) == forNetlink {
		return fd, kernelAddress(numberOf(fd)), kernelAddress(0), true
	}
	at, ok := c.peers.peer(fd)
	if !ok {
		return -1, nil, nil, false
	}
	here := netip.AddrPortFrom(loopback(at.Addr()), 1<<15) // a port of this host
	return fd, sockaddr(familyOf(at), here), sockaddr(familyOf(at), at), true
}

// buffer is a place in the caller's memory.
type buffer struct {
	at   uint64
	size int
}

// reception is a call that receives, with the places where its results go; zero for parts that the
// caller does not want.
type reception struct {
	data             []buffer
	name             buffer
	nameSize         uint64
	control, flagged uint64
	flags            int
}

// recvfrom receives with the sender's address.
func (c sockets) recvfrom() answer {
	fd, _, server, ok := c.standIn()
	if !ok {
		return proceed
	}
	r := reception{data: []buffer{{c.args[1], size(c.args[2])}}, flags: int(int32(uint32(c.args[3])))}
	if c.args[5] != 0 {
		room, e := c.bytes(c.args[5], 4)
		if e != 0 {
			return fails(e)
		}
		r.name, r.nameSize = buffer{c.args[4], size(uint64(binary.NativeEndian.Uint32(room)))}, c.args[5]
	}
	return c.receive(fd, server, r)
}

// Offsets in struct msghdr of 64 bits, and the number of parts that a caller may divide a message
// into here.
const (
	msgNameSize = 8
	msgData     = 16
	msgParts    = 24
	msgControl  = 40
	msgFlags    = 48
	msgSize     = 56
	maxParts    = 16
)

// recvmsg receives into several places.
func (c sockets) recvmsg() answer {
	fd, _, server, ok := c.standIn()
	if !ok {
		return proceed
	}
	head, e := c.bytes(c.args[1], msgSize)
	if e != 0 {
		return fails(e)
	}
	word := binary.NativeEndian.Uint64
	parts := word(head[msgParts:])
	if parts > maxParts {
		return fails(unix.EMSGSIZE)
	}
	list, e := c.bytes(word(head[msgData:]), int(parts)*16)
	if e != 0 {
		return fails(e)
	}
	r := reception{flags: int(int32(uint32(c.args[2]))), control: c.args[1] + msgControl, flagged: c.args[1] + msgFlags}
	if name := word(head); name != 0 {
		r.name, r.nameSize = buffer{name, size(uint64(binary.NativeEndian.Uint32(head[msgNameSize:])))},
			c.args[1]+msgNameSize
	}
	for ; len(list) > 0; list = list[16:] {
		r.data = append(r.data, buffer{word(list), size(word(list[8:]))})
	}
	return c.receive(fd, server, r)
}

// maxDatagram is the largest message of a stand-in (udp(7)).
const maxDatagram = 64 << 10

// size bounds a length that a caller has given.
func size(n uint64) int { return int(min(n, maxDatagram)) }

// receive waits for a message if the caller would.
func (c sockets) receive(fd int, server []byte, r reception) answer {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	waits := err == nil && flags&unix.O_NONBLOCK == 0 && r.flags&unix.MSG_DONTWAIT == 0
	out := c.deliver(fd, server, r)
	if out.errno != unix.EAGAIN || !waits {
		return out
	}
	limit, _ := unix.GetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO)
	return answer{wait: func() answer {
		for begin := time.Now(); c.current(); {
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 100)
			if out := c.deliver(fd, server, r); out.errno != unix.EAGAIN {
				return out
			}
			if c.signalled() {
				return fails(unix.EINTR)
			}
			if late := time.Duration(limit.Nano()); late > 0 && time.Since(begin) >= late {
				return fails(unix.EAGAIN)
			}
		}
		return fails(unix.EINTR)
	}}
}

// deliver takes a message that is there and writes it to the caller.
func (c sockets) deliver(fd int, server []byte, r reception) answer {
	room := 0
	for _, b := range r.data {
		room += b.size
	}
	buf := make([]byte, min(room, maxDatagram))
	n, _, got, _, err := unix.Recvmsg(fd, buf, nil, r.flags&(unix.MSG_PEEK|unix.MSG_TRUNC)|unix.MSG_DONTWAIT)
	if err != nil {
		return result(err)
	}
	rest := buf[:min(n, len(buf))]
	for _, b := range r.data {
		part := rest[:min(b.size, len(rest))]
		if e := c.put(b.at, part); e != 0 {
			return fails(e)
		}
		rest = rest[len(part):]
	}
	if e := c.putHead(r, server, got); e != 0 {
		return fails(e)
	}
	return answer{val: int64(n)}
}

// putHead writes the sender and the flags of a message.
func (c sockets) putHead(r reception, server []byte, flags int) unix.Errno {
	word := binary.NativeEndian.AppendUint32
	if r.nameSize != 0 {
		if e := c.put(r.name.at, server[:min(r.name.size, len(server))]); e != 0 {
			return e
		}
		if e := c.put(r.nameSize, word(nil, uint32(len(server)))); e != 0 {
			return e
		}
	}
	if r.control == 0 {
		return 0
	}
	if e := c.put(r.control, make([]byte, 8)); e != 0 {
		return e
	}
	return c.put(r.flagged, word(nil, uint32(flags&(unix.MSG_TRUNC|unix.MSG_EOR))))
}

// getsockname names an address of its own for a socket that stands for another.
func (c sockets) getsockname() answer {
	_, own, _, ok := c.standIn()
	if !ok {
		return proceed
	}
	return fails(c.putCounted(c.args[1], c.args[2], own))
}

func familyOf(a netip.AddrPort) int {
	if a.Addr().Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}
