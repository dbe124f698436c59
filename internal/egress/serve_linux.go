package egress

import (
	"encoding/json"
	"io"
	"log"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/ir"
)

// service is a proxy that a supervisor steers over a socket.
type service struct {
	proxy   *Proxy
	control int
	write   sync.Mutex

	mu sync.Mutex
	// asked are the questions to the user that wait, by number.
	asked map[uint32]chan wire.Packet
	last  uint32

	// uncut is closed when a connection does not end whose grant was revoked.
	uncut chan struct{}
	once  sync.Once
}

// Run is the proxy process of one run: it reads its setup, gives up its privileges, and serves the
// supervisor at the other end of a socket until that end closes.
func Run(control, setup *os.File) error {
	data, err := io.ReadAll(setup)
	if err != nil {
		return err
	}
	var s wire.Setup
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	config, err := NewConfig(&s, ir.Linux)
	if err != nil {
		return err
	}
	log.SetOutput(io.Discard) // net/http prints bytes of hosts, which may show a credential
	if err := confine(); err != nil {
		return err
	}
	return Serve(control, config)
}

func newService(control *os.File) *service {
	return &service{control: int(control.Fd()), asked: map[uint32]chan wire.Packet{}, uncut: make(chan struct{})}
}

// Serve runs a proxy for the supervisor at the other end of a socket, until that end closes. An error means that
// connections may be left, and that the process must end: the socket is open until then, since its end tells the
// supervisor that there are none.
func Serve(control *os.File, config Config) error {
	s := newService(control)
	config.Refused, config.Ask, config.Used = s.refused, s.ask, s.used
	if config.Tells {
		config.Granted = s.granted
	}
	p, err := Start(config)
	if err != nil {
		return err
	}
	defer closeSoon(p)
	s.proxy = p
	hello := wire.Packet{Kind: wire.Hello}
	hello.Want, _ = p.Listener(false)
	hello.From, _ = p.Listener(true)
	if err := s.send(&hello); err != nil {
		return err
	}
	return s.steered(control)
}

// steered serves the supervisor until its end of the socket closes, or a connection does not end that must.
func (s *service) steered(control *os.File) error {
	ended := make(chan error, 1)
	go func() {
		ended <- s.loop()
		runtime.KeepAlive(control) // an *os.File that is not used any more closes its descriptor
	}()
	select {
	case err := <-ended:
		return err
	case <-s.uncut:
		return errUncut
	}
}

// closeSoon ends all connections. It does not wait for a connection that does not end, which the end of the
// process closes.
func closeSoon(p *Proxy) {
	closed := make(chan struct{})
	go func() {
		p.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(maxGrace):
	}
}

func (s *service) send(p *wire.Packet) error {
	s.write.Lock()
	defer s.write.Unlock()
	return unix.Send(s.control, p.Append(nil), unix.MSG_NOSIGNAL)
}

// refused tells the supervisor, which reports all refusals of the run.
func (s *service) refused(r Refusal) {
	p := r.packet(wire.Refused)
	_ = s.send(&p)
}

// granted tells the supervisor of a request that is carried, for its evidence log.
func (s *service) granted(r Refusal, once int) {
	p := r.packet(wire.Granted)
	p.Errno = uint32(once)
	_ = s.send(&p)
}

// packet writes a refusal, or a grant.
func (r Refusal) packet(kind wire.Kind) wire.Packet {
	op, _ := r.Op.(ir.Connect)
	host := ""
	if op.To.Host.Kind != 0 {
		host = op.To.Host.String()
	}
	path := ""
	for _, s := range op.To.Path {
		path += "/" + s
	}
	return wire.Packet{
		Kind: kind, ID: r.By, Want: netip.AddrPortFrom(netip.IPv4Unspecified(), op.To.Port),
		Text: []string{op.To.Scheme, host, path, op.Method, r.Why},
	}
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
		case n == 0, err == unix.ECONNRESET, err == unix.EPIPE:
			return nil
		case err != nil:
			return err
		}
		p, err := wire.Parse(buf[:n])
		if err != nil {
			return err
		}
		switch p.Kind {
		case wire.Route:
			go s.route(p)
		case wire.Flush:
			if err := s.send(&wire.Packet{Kind: wire.Answer, ID: p.ID}); err != nil {
				return err
			}
		case wire.Forget:
			s.proxy.Forget(p.From)
		case wire.Resolver:
			if err := s.resolver(oob[:oobn], p.ID); err != nil {
				return err
			}
		case wire.Permit:
			s.permit(p)
		case wire.Grant, wire.Revoke:
			if s.proxy.judge.lent == nil {
				return wire.ErrPacket
			}
			go s.lend(p)
		case wire.Hello, wire.Answer, wire.Refused, wire.Ask, wire.Withdraw, wire.Used,
			wire.Granted:
			return wire.ErrPacket
		default:
			return wire.ErrPacket
		}
	}
}

// route decides about a connection and announces it to the proxy.
func (s *service) route(p wire.Packet) {
	o, refused, e := s.proxy.route(p.Want, p.Blocking, p.ID)
	answer := wire.Packet{Kind: wire.Answer}
	if refused != nil {
		answer = refused.packet(wire.Answer)
	}
	answer.ID, answer.Errno = p.ID, uint32(e)
	if e == 0 {
		o.By = p.ID
		s.proxy.Expect(p.From, o)
	}
	_ = s.send(&answer)
}

// resolver serves a pair of sockets: the tool has the other end and takes it for a UDP socket.
func (s *service) resolver(oob []byte, by uint64) error {
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
	s.proxy.stub.serveResolver(conn, by)
	return nil
}
