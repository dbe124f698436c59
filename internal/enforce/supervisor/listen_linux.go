package supervisor

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// take binds a socket to an address. A port that the kernel chooses needs no rule as long as
// nothing listens there, which listen judges.
func (c sockets) take(fd, family int, at netip.AddrPort, raw []byte) answer {
	chosen := at.Port() == 0 && (at.Addr().IsUnspecified() || at.Addr().Unmap().IsLoopback())
	if family == unix.AF_UNIX {
		return c.pretend(fd, at, chosen)
	}
	near, e := c.nearer(fd, family, at)
	switch {
	case e != 0:
		return fails(e)
	case near != nil:
		raw = near
	case chosen && c.egress != nil:
	case !c.permits(c.policy.listen(at)):
		return fails(unix.EACCES)
	}
	if !c.current() {
		return fails(unix.EINTR)
	}
	return result(c.do(func() error { return bound(fd, raw) }))
}

// nearer is the loopback address in place of every address, nil where the policy grants that or neither: programs for
// tests commonly listen at every address, and their clients are beside them. See decision D365.
func (c sockets) nearer(fd, family int, at netip.AddrPort) ([]byte, unix.Errno) {
	if !at.Addr().Unmap().IsUnspecified() || at.Port() == 0 && c.policy.direct() {
		return nil, 0
	}
	dual := false
	if family == unix.AF_INET6 {
		alone, err := unix.GetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY)
		if err != nil {
			return nil, errno(err)
		}
		dual = alone == 0
	}
	asked := c.policy.listen(at)
	near, ok := c.policy.now().Nearer(asked.op.(ir.Listen), dual)
	if !ok || !c.permits(c.policy.listen(netip.AddrPortFrom(near.Host.Addr, near.Port))) {
		return nil, 0
	}
	addr := near.Host.Addr
	if family == unix.AF_INET6 {
		addr = netip.AddrFrom16(addr.As16())
	}
	asked.instead, asked.why = true, "loopback addresses alone are granted, so it listens at "+near.Host.Addr.String()
	c.refused = &asked
	return sockaddr(family, netip.AddrPortFrom(addr, near.Port)), 0
}

// pretend binds a socket that stands for an internet socket. Of datagrams it has no address; a port that the kernel
// chooses for a stream is judged when it listens.
func (c sockets) pretend(fd int, at netip.AddrPort, chosen bool) answer {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	switch {
	case err != nil:
		return result(err)
	case kind == unix.SOCK_STREAM && chosen:
		c.peers.remember(fd, at)
		return answer{}
	case kind == unix.SOCK_STREAM:
		c.permits(c.policy.listen(at))
		return fails(unix.EACCES)
	case chosen:
		return answer{}
	}
	c.asked = append(c.asked, at.String())
	return c.denies(unix.EACCES, whyDatagram)
}

// listen lets unix sockets wait for connections, and internet sockets at addresses that
// the policy grants. Without an address the kernel takes all, with a port of its choice.
func (c sockets) listen() answer {
	fd, family, e := c.socket()
	if e != 0 {
		return fails(e)
	}
	if at, stands := c.peers.peer(fd); stands && family == unix.AF_UNIX {
		c.permits(c.policy.listen(at))
		return fails(unix.EACCES)
	}
	var near []byte
	if family != unix.AF_UNIX {
		at, e := localAddress(fd)
		if e == 0 && at.Port() == 0 {
			near, e = c.nearer(fd, family, at)
		}
		switch {
		case e != 0:
			return fails(e)
		case near == nil && !c.permits(c.policy.listen(at)):
			return fails(unix.EACCES)
		case !c.current():
			return fails(unix.EINTR)
		}
	}
	backlog := int(int32(uint32(c.args[1])))
	err := c.do(func() error {
		if near != nil {
			if err := bound(fd, near); err != nil {
				return err
			}
		}
		return unix.Listen(fd, backlog)
	})
	if err == nil && family != unix.AF_UNIX {
		c.listeners.add(fd)
	}
	return result(err)
}

// localAddress is the address of a socket of the internet.
func localAddress(fd int) (netip.AddrPort, unix.Errno) {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return netip.AddrPort{}, errno(err)
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port)), 0
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port)), 0
	}
	return netip.AddrPort{}, unix.EACCES
}

// listen asks whether connections may be accepted at an address.
func (j *judge) listen(at netip.AddrPort) judgement {
	return j.decide(ir.Listen{Host: ir.Host{Kind: ir.HostAddr, Addr: at.Addr().Unmap().WithZone("")}, Port: at.Port()})
}

// direct reports whether the policy lets the tool connect to some other host itself, from the address that a socket is
// bound to: from a loopback address it reaches none.
func (j *judge) direct() bool {
	rules := j.now().Tool.Net
	return slices.ContainsFunc(rules, func(r ir.NetRule) bool {
		return r.Allow && ir.Plain(&r, rules) && r.Host.Kind == ir.HostAddr && !r.Host.Addr.Unmap().IsLoopback()
	})
}

// listeners are the sockets of the tool that wait for connections, by their inodes. Closed
// sockets stay listed: the kernel counts through 2^32 inodes before an inode comes again.
type listeners struct {
	mu     sync.Mutex
	inodes map[uint64]struct{}
	// ports are the ports of dual-stack listeners at the mapped loopback address: they accept what is sent to ::1 as
	// well.
	ports [1 << 16 / 64]uint64
}

// maxListeners bounds the supervisor's memory of a tool's listeners.
const maxListeners = 1 << 16

func (l *listeners) add(fd int) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inodes == nil || len(l.inodes) >= maxListeners {
		l.inodes = map[uint64]struct{}{}
	}
	l.inodes[st.Ino] = struct{}{}
	if at, e := localAddress(fd); e == 0 && at.Addr().Is4In6() && at.Addr().Unmap().IsLoopback() {
		l.ports[at.Port()/64] |= 1 << (at.Port() % 64)
	}
}

// mapped is the address of a dual-stack listener that was to listen at every address, for a connection to ::1.
func (l *listeners) mapped(to netip.AddrPort) (netip.AddrPort, bool) {
	if to.Addr().WithZone("") != netip.IPv6Loopback() {
		return to, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	v4 := netip.AddrFrom16(netip.AddrFrom4([4]byte{127, 0, 0, 1}).As16())
	return netip.AddrPortFrom(v4, to.Port()), l.ports[to.Port()/64]>>(to.Port()%64)&1 == 1
}

// own reports whether all sockets that could accept a connection to a loopback address are the
// tool's own. Sockets that listen at all addresses count, whatever the kernel would prefer.
func (l *listeners) own(tid int, to netip.AddrPort) bool {
	l.mu.Lock()
	none := len(l.inodes) == 0
	l.mu.Unlock()
	if none || !to.Addr().Unmap().IsLoopback() {
		return false
	}
	all := append(listening(tid, "tcp", to), listening(tid, "tcp6", to)...)
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(all) > 0 && !slices.ContainsFunc(all, func(inode uint64) bool {
		_, ours := l.inodes[inode]
		return !ours
	})
}

// nobody reports whether no socket would accept a connection to a loopback address.
func (l *listeners) nobody(tid int, to netip.AddrPort) bool {
	return to.Addr().Unmap().IsLoopback() && len(listening(tid, "tcp", to))+len(listening(tid, "tcp6", to)) == 0
}

// stateListen is TCP_LISTEN (include/net/tcp_states.h), as /proc/net/tcp writes it.
const stateListen = "0A"

// listening lists the inodes of sockets that could accept a connection to an address
// (proc_pid_net(5)).
func listening(tid int, table string, to netip.AddrPort) []uint64 {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/net/" + table)
	if err != nil {
		return []uint64{0} // no socket's: unknown sockets are not the tool's
	}
	var out []uint64
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		const address, state, inode = 1, 3, 9
		if len(f) <= inode || f[state] != stateListen {
			continue
		}
		at, ok := hexAddress(f[address])
		if !ok || at.Port() != to.Port() ||
			!at.Addr().Unmap().IsUnspecified() && at.Addr().Unmap() != to.Addr().Unmap() {
			continue
		}
		n, err := strconv.ParseUint(f[inode], 10, 64)
		if err != nil {
			n = 0
		}
		out = append(out, n)
	}
	return out
}

// hexAddress reads an address of /proc/net/tcp: words in the machine's byte order.
func hexAddress(s string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil || len(b)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	a, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(a, uint16(n)), ok
}
