package supervisor

import (
	"encoding/binary"
	"io"
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/ir"
)

// Where no rule names a host, a tool has no proxy and no sockets of the internet. It gets unix sockets in their
// place, which it could make itself: a connection is refused with its address, and a question to a name server with the
// name, so that the refusal says which host was asked for.
// See decision D120.

// placeholder makes the socket that stands for an internet socket.
func (c sockets) placeholder() answer {
	flags := int(c.args[1])&unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	hand := answer{hand: true, writes: true, closeOn: c.args[1]&unix.SOCK_CLOEXEC != 0}
	if c.args[1]&sockTypes == unix.SOCK_STREAM {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|flags, 0)
		if err != nil {
			return result(err)
		}
		hand.fd = fd
		return hand
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|flags, 0)
	if err != nil {
		return result(err)
	}
	if !c.Supervisor.refuses(pair[1], c.by(), readDatagram) {
		_ = unix.Close(pair[0])
		return c.denies(unix.EMFILE, whyMany)
	}
	c.peers.stand(pair[0], forDatagrams)
	hand.fd = pair[0]
	return hand
}

// whyMany is the reason for refusing a further socket.
const whyMany = "too many sockets that ask name servers"

// closed refuses a connection of a socket that stands for an internet socket. Questions to a name server are read.
func (c sockets) closed(fd int, to netip.AddrPort) answer {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	switch {
	case err != nil:
		return result(err)
	case kind == unix.SOCK_STREAM && to.Port() == portDNS:
		return c.ask(fd, to)
	case kind == unix.SOCK_STREAM:
		c.permits(c.policy.connect(to, false))
		return fails(unix.EACCES)
	case to.Port() == portDNS:
		c.peers.remember(fd, to)
		return answer{}
	case to.Addr().Unmap().IsLoopback() && c.trace == nil:
		// To sort the addresses of this host the C library connects to each; nothing is sent (RFC 6724).
		return fails(unix.EACCES)
	}
	c.asked = append(c.asked, to.String())
	return c.denies(unix.EACCES, whyDatagram)
}

// ask connects a stream to the refuser, which reads the questions of a resolver that asks over TCP.
func (c sockets) ask(fd int, to netip.AddrPort) answer {
	l, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return result(err)
	}
	defer unix.Close(l)
	if err := unix.Bind(l, &unix.SockaddrUnix{}); err != nil { // a name that the kernel chooses (unix(7), autobind)
		return result(err)
	}
	if err := unix.Listen(l, 1); err != nil {
		return result(err)
	}
	at, err := unix.Getsockname(l)
	if err == nil {
		err = c.do(func() error { return unix.Connect(fd, at) })
	}
	if err != nil {
		return result(err)
	}
	end, _, err := unix.Accept4(l, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
	if err != nil {
		return result(err)
	}
	if !c.Supervisor.refuses(end, c.by(), readStream) {
		return c.denies(unix.EMFILE, whyMany)
	}
	c.peers.remember(fd, to)
	return answer{}
}

// A questionReader reads a question, and what stands before its answer.
type questionReader func(from io.Reader, buf []byte) (question, frame []byte, err error)

// refuses has the questions of a process refused that come by an end of a pair, until it is closed, and looks nothing
// up. It takes the descriptor over.
func (s *Supervisor) refuses(fd int, by process, read questionReader) bool {
	return s.pairs.serve(s, fd, func(f *os.File) {
		buf := make([]byte, maxQuestion)
		for {
			query, frame, err := read(f, buf)
			if err != nil {
				return
			}
			reply, name := refused(query)
			if name != "" {
				s.refusedName(name, by)
			}
			if reply == nil {
				continue
			}
			if _, err := f.Write(append(frame, reply...)); err != nil {
				return
			}
		}
	})
}

// readDatagram reads one message. The end of a pair reads nothing when the other is closed.
func readDatagram(from io.Reader, buf []byte) (question, frame []byte, err error) {
	n, err := from.Read(buf)
	if err == nil && n == 0 {
		err = io.EOF
	}
	return buf[:max(n, 0)], nil, err
}

// readStream reads one message behind its length (RFC 7766), and returns room for the length of the answer, which takes
// as many bytes.
func readStream(from io.Reader, buf []byte) (question, frame []byte, err error) {
	size := make([]byte, 2)
	if _, err := io.ReadFull(from, size); err != nil {
		return nil, nil, err
	}
	n := int(binary.BigEndian.Uint16(size))
	if n > len(buf) {
		return nil, nil, io.ErrShortBuffer
	}
	if _, err := io.ReadFull(from, buf[:n]); err != nil {
		return nil, nil, err
	}
	reply, _ := refused(buf[:n])
	return buf[:n], binary.BigEndian.AppendUint16(nil, uint16(len(reply))), nil
}

// whyReverse is the reason for refusing a question for the name of an address (RFC 1035, 3.5), which no rule permits.
const whyReverse = "names of addresses are not looked up"

// refusedName reports a name that a process asked for.
func (s *Supervisor) refusedName(name string, by process) {
	host, now := ir.Host{Kind: ir.HostName, Name: hostSearch().meant(name)}, time.Now()
	op := ir.Connect{To: ir.Endpoint{Host: host}}
	d := &denial.Denial{
		Time: now, By: denial.ByPolicy, Operation: op, Verdict: s.policy.now().Named(host), PID: by.pid, Name: by.name,
		View: s.policy.view, Roots: s.sandbox.roots,
	}
	if strings.HasSuffix(name, ".arpa") {
		d.By, d.Why = denial.BySupervisor, whyReverse
	}
	if s.denied != nil && !d.Verdict.Allowed() && !s.asks.repeats(op, by, now) {
		s.denied(d)
	}
}
