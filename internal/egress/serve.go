package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/ir"
)

// service is a proxy that a supervisor steers over a socket.
type service struct {
	proxy   *Proxy
	control int
	write   sync.Mutex
}

// Serve runs a proxy for the supervisor at the other end of a socket, until that end closes.
func Serve(control *os.File, config Config) error {
	s := &service{control: int(control.Fd())}
	config.Refused = s.refused
	p, err := Start(config)
	if err != nil {
		return err
	}
	defer p.Close()
	s.proxy = p
	hello := wire.Packet{Kind: wire.Hello}
	hello.Want, _ = p.Listener(false)
	hello.From, _ = p.Listener(true)
	if err := s.send(&hello); err != nil {
		return err
	}
	return s.loop()
}

func (s *service) send(p *wire.Packet) error {
	s.write.Lock()
	defer s.write.Unlock()
	return unix.Send(s.control, p.Append(nil), unix.MSG_NOSIGNAL)
}

// refused tells the supervisor, which reports all refusals of the run.
func (s *service) refused(r Refusal) {
	p := wire.Packet{Kind: wire.Refused, Text: make([]string, 6)}
	if op, ok := r.Op.(ir.Connect); ok {
		p.Want = netip.AddrPortFrom(netip.IPv4Unspecified(), op.To.Port)
		p.Text = []string{op.To.Scheme, op.To.Host.String(), joinPath(op.To.Path), op.Method, r.Why}
	}
	_ = s.send(&p)
}

func joinPath(segments []string) (out string) {
	for _, s := range segments {
		out += "/" + s
	}
	return out
}

// loop answers the supervisor. A packet that it cannot read ends the proxy, and with it every
// connection of the run.
func (s *service) loop() error {
	buf, oob := make([]byte, wire.MaxSize), make([]byte, unix.CmsgSpace(4*4))
	for {
		n, oobn, _, _, err := unix.Recvmsg(s.control, buf, oob, unix.MSG_CMSG_CLOEXEC)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case n == 0:
			return nil
		}
		p, err := wire.Parse(buf[:n])
		if err != nil {
			return err
		}
		switch p.Kind {
		case wire.Route:
			go s.route(p)
		case wire.Forget:
			s.proxy.Forget(p.From)
		case wire.Resolver:
			if err := s.resolver(oob[:oobn]); err != nil {
				return err
			}
		default:
			return wire.ErrPacket
		}
	}
}

// route decides about a connection and announces it to the proxy.
func (s *service) route(p wire.Packet) {
	o, e := s.proxy.Route(p.Want, p.Blocking)
	if e == 0 {
		s.proxy.Expect(p.From, o)
	}
	_ = s.send(&wire.Packet{Kind: wire.Answer, ID: p.ID, Errno: uint32(e)})
}

// dnsPort is the port of name servers (RFC 1035, 4.2).
const dnsPort = 53

// Route decides about a connection of the tool to an address. If the caller waits for the host,
// Route connects to it first, so that the tool learns of its errors.
func (p *Proxy) Route(want netip.AddrPort, wait bool) (Origin, syscall.Errno) {
	for _, v6 := range []bool{false, true} {
		if l, ok := p.Listener(v6); ok && l == want {
			return Origin{}, 0
		}
	}
	host := ir.Host{Kind: ir.HostAddr, Addr: want.Addr().Unmap().WithZone("")}
	if p.pool.Holds(host.Addr) {
		named, ok := p.pool.Host(host.Addr)
		if !ok {
			return Origin{}, syscall.EHOSTUNREACH
		}
		host = named
	}
	granted, refused := reach(p.config.Policy, host, want.Port())
	if len(granted) == 0 {
		if want.Port() == dnsPort {
			return Origin{Resolver: true}, 0
		}
		p.refused(refused)
		return Origin{}, syscall.EACCES
	}
	o := Origin{Host: host, Port: want.Port()}
	if !wait {
		return o, 0
	}
	to := ir.Endpoint{Scheme: likely(granted, want.Port()), Host: host, Port: want.Port()}
	upstream, err := p.dial(p.ctx, to)
	if err != nil {
		p.failed(to, err)
		return Origin{}, errnoOf(err)
	}
	o.Upstream = upstream
	return o, 0
}

// likely is the scheme that a port suggests if it is granted, else one that is.
func likely(granted map[string]ir.Verdict, port uint16) string {
	for _, s := range []string{schemeOf(port), schemeStream, schemeHTTPS, schemeHTTP} {
		if _, ok := granted[s]; ok {
			return s
		}
	}
	return schemeStream
}

// errnoOf is the error number that connect(2) gives for a failure.
func errnoOf(err error) syscall.Errno {
	var e syscall.Errno
	switch {
	case errors.Is(err, errInternal):
		return syscall.EACCES
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return syscall.ETIMEDOUT
	default:
		return syscall.EHOSTUNREACH
	}
}

// resolver serves a pair of sockets: the tool has the other end and takes it for a UDP socket.
func (s *service) resolver(oob []byte) error {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) != 1 {
		return wire.ErrPacket
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return wire.ErrPacket
	}
	f := os.NewFile(uintptr(fds[0]), "resolver")
	conn, err := net.FilePacketConn(f)
	_ = f.Close()
	if err != nil {
		return err
	}
	s.proxy.serveResolver(conn)
	return nil
}
