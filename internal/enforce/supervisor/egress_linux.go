package supervisor

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/ir"
)

// Egress is the egress proxy of a run as the supervisor knows it.
type Egress struct {
	// Control is the socket that the proxy is steered by, PID its process.
	Control, PID int
	// V4 and V6 are the addresses that it listens at; V6 is invalid on hosts without IPv6.
	V4, V6 netip.AddrPort
}

// egress is the way to the proxy.
type egress struct {
	Egress
	write sync.Mutex

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan wire.Packet
	down    bool
	// asking are the questions to the user that the proxy waits for.
	asking map[uint32]bool
	// callers are the processes that asked for a connection or a resolver.
	callers recent[uint64, process]
}

// process is a process of the tool, for reports.
type process struct {
	pid  int
	name string
	// current reports whether a connection is still waited for, nil where no call waits.
	current func() bool
}

func newEgress(e *Egress) *egress {
	if e == nil {
		return nil
	}
	return &egress{Egress: *e, waiting: map[uint64]chan wire.Packet{}, asking: map[uint32]bool{}}
}

// listen takes the packets of the proxy until it ends. told gets the packets about requests.
func (e *egress) listen(told func(wire.Packet)) {
	buf := make([]byte, wire.MaxSize)
	for {
		n, err := unix.Read(e.Control, buf)
		if err == unix.EINTR {
			continue
		}
		p, malformed := wire.Parse(buf[:max(n, 0)])
		if err != nil || n == 0 || malformed != nil {
			e.end()
			return
		}
		switch p.Kind {
		case wire.Answer:
			e.mu.Lock()
			in := e.waiting[p.ID]
			delete(e.waiting, p.ID)
			e.mu.Unlock()
			if in != nil {
				in <- p
			}
		case wire.Withdraw:
			e.ended(p.Errno)
		case wire.Ask:
			e.mu.Lock()
			e.asking[p.Errno] = true
			e.mu.Unlock()
			told(p)
		case wire.Refused, wire.Used, wire.Granted:
			told(p)
		case wire.Hello, wire.Route, wire.Forget, wire.Flush, wire.Resolver, wire.Permit, wire.Grant, wire.Revoke:
			e.end() // no packet of a proxy
			return
		}
	}
}

// errEnded answers calls that need the proxy when it is gone, and whyEnded says so.
const (
	errEnded = unix.ENETDOWN
	whyEnded = "the egress proxy of this run has ended; no host is reached by its name any more"
)

// maxFlush is how long the end of a run waits for the last refusals.
const maxFlush = 2 * time.Second

// flush waits until all refusals that the tool knows of are told.
func (e *egress) flush() {
	if e == nil {
		return
	}
	answered := make(chan struct{})
	go func() {
		e.ask(wire.Packet{Kind: wire.Flush}, process{})
		close(answered)
	}()
	select {
	case <-answered:
	case <-time.After(maxFlush):
	}
}

// end fails all questions: without its proxy the tool reaches no host by name.
func (e *egress) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.down = true
	for id, in := range e.waiting {
		delete(e.waiting, id)
		in <- wire.Packet{Kind: wire.Answer, ID: id, Errno: uint32(errEnded)}
	}
}

// ask sends a question of a process and waits for its answer.
func (e *egress) ask(p wire.Packet, by process) wire.Packet {
	in := make(chan wire.Packet, 1)
	e.mu.Lock()
	e.last++
	p.ID = e.last
	e.callers.put(p.ID, by)
	if e.down {
		in <- wire.Packet{Errno: uint32(errEnded)}
	} else {
		e.waiting[p.ID] = in
	}
	e.mu.Unlock()
	if err := e.send(&p, nil); err != nil {
		e.end()
	}
	out := <-in
	if by.current != nil {
		by.current = nil
		e.mu.Lock()
		e.callers.put(p.ID, by)
		e.mu.Unlock()
	}
	return out
}

func (e *egress) send(p *wire.Packet, rights []byte) error {
	e.write.Lock()
	defer e.write.Unlock()
	return unix.Sendmsg(e.Control, p.Append(nil), rights, nil, unix.MSG_NOSIGNAL)
}

// resolver gives the stub resolver of the proxy one end of a pair of sockets.
func (e *egress) resolver(fd int, by process) error {
	e.mu.Lock()
	e.last++
	id := e.last
	e.callers.put(id, by)
	down := e.down
	e.mu.Unlock()
	if down {
		return errEnded
	}
	return e.send(&wire.Packet{Kind: wire.Resolver, ID: id}, unix.UnixRights(fd))
}

// caller is the process that a packet is about, zero where it is not known.
func (e *egress) caller(p wire.Packet) process {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.callers.entries[p.ID]
}

// stateClose is TCP_CLOSE (include/net/tcp_states.h).
const stateClose = 7

// route connects a socket to the proxy, which has been told where the tool wanted to go and
// agrees. A tool that waits learns the errors of the host. A tool that does not wait is
// connected at once, and its connection ends if the host cannot be reached.
func (c sockets) route(fd int, to netip.AddrPort) answer {
	family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return fails(unix.EACCES)
	}
	proxy, e := c.egress.listener(fd, family, to)
	if e != 0 {
		return fails(e)
	}
	raw := sockaddr(family, proxy)
	if info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO); err != nil ||
		info.State != stateClose {
		// It goes to the proxy already, or waits for connections itself: the kernel knows the error.
		return result(c.do(func() error { return connected(fd, raw) }))
	}
	from, e := source(fd, family, proxy)
	if e != 0 {
		return fails(e)
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	waits := err == nil && flags&unix.O_NONBLOCK == 0
	reply := c.egress.ask(wire.Packet{Kind: wire.Route, Want: to, From: from, Blocking: waits},
		process{c.process(), c.comm(), c.current})
	if len(reply.Text) > 0 {
		c.permits(c.policy.refusal(reply))
	}
	switch e := unix.Errno(reply.Errno); e {
	case 0:
	case errEnded:
		return c.denies(e, whyEnded)
	default:
		return fails(e)
	}
	if !c.current() {
		_ = c.egress.send(&wire.Packet{Kind: wire.Forget, From: from}, nil)
		return fails(unix.EINTR)
	}
	c.peers.remember(fd, to)
	err = c.do(func() error { return connected(fd, raw) })
	if err != nil && err != unix.EINPROGRESS {
		_ = c.egress.send(&wire.Packet{Kind: wire.Forget, From: from}, nil)
	}
	return result(err)
}

// listener is the address of the proxy for a socket of a family that wants to go somewhere.
func (e *egress) listener(fd, family int, to netip.AddrPort) (netip.AddrPort, unix.Errno) {
	switch {
	case family == unix.AF_INET:
		return e.V4, 0
	case e.V6.IsValid() && !to.Addr().Is4In6():
		return e.V6, 0
	}
	only, err := unix.GetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY)
	if err != nil || only != 0 {
		return netip.AddrPort{}, unix.ENETUNREACH
	}
	return e.V4, 0
}

// source binds a socket to a loopback address unless it is bound, and returns the address that
// the proxy will see.
func source(fd, family int, proxy netip.AddrPort) (netip.AddrPort, unix.Errno) {
	at, e := localAddress(fd)
	if e != 0 {
		return at, e
	}
	if at.Port() == 0 {
		// With this option the port would be chosen by connect(2).
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 0)
		if err := bound(fd, sockaddr(family, netip.AddrPortFrom(own(proxy.Addr(), family), 0))); err != nil {
			return at, errno(err)
		}
		if at, e = localAddress(fd); e != 0 {
			return at, e
		}
	}
	if at.Addr().Unmap().IsUnspecified() {
		return netip.AddrPortFrom(proxy.Addr(), at.Port()), 0
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()), 0
}

// own is an address of this host to come from: any of the loopback network, so that a tool that
// opens many connections is not short of ports while the ports of closed connections wait (tcp(7),
// TIME_WAIT).
func own(proxy netip.Addr, family int) netip.Addr {
	if !proxy.Is4() || family != unix.AF_INET {
		return proxy
	}
	a := [4]byte{127}
	_, _ = rand.Read(a[1:])
	a[3] |= 1 // neither the network nor its broadcast address
	a[3] &^= 1 << 7
	return netip.AddrFrom4(a)
}

// sockaddr writes an address as struct sockaddr_in or sockaddr_in6.
func sockaddr(family int, a netip.AddrPort) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(family))
	b = binary.BigEndian.AppendUint16(b, a.Port())
	if family == unix.AF_INET {
		v4 := a.Addr().Unmap().As4()
		return append(append(b, v4[:]...), make([]byte, 8)...)
	}
	v6 := a.Addr().As16()
	b = append(append(b, 0, 0, 0, 0), v6[:]...)
	return append(b, 0, 0, 0, 0)
}

// Places of the texts of a packet about a refusal.
const (
	textScheme = iota
	textHost
	textPath
	textMethod
	textWhy
	texts
)

// refusal judges again a request that the proxy has refused.
func (j *judge) refusal(p wire.Packet) judgement {
	t, op := append(p.Text, make([]string, texts)...), requested(p)
	if t[textWhy] != "" {
		return judgement{by: denial.ByEgress, op: op, why: t[textWhy]}
	}
	view, state := j.inForce()
	out := judgement{by: denial.ByPolicy, op: op, verdict: requestOf(op)(view), state: state}
	if out.allowed() {
		return judgement{by: denial.ByEgress, op: op, why: "the egress proxy refused it"}
	}
	return out
}

// requestOf asks a policy about a request of the proxy, or about a connection or a name, whichever it is.
func requestOf(op ir.Connect) func(*ir.View) ir.Verdict {
	return func(v *ir.View) ir.Verdict {
		switch {
		case op.Method != "":
			return v.Decide(op)
		case op.To.Port == 0:
			return v.Named(op.To.Host)
		default:
			return v.Reach(op.To)
		}
	}
}

// grantedHost tells of a request that the proxy carries, with the verdict that it rests on.
func (s *Supervisor) grantedHost(p wire.Packet) {
	if s.judged == nil {
		return
	}
	op, by := requested(p), s.egress.caller(p)
	d := &denial.Denial{By: denial.ByPolicy, Operation: op, PID: by.pid, Name: by.name, Roots: s.sandbox.roots}
	ask := requestOf(op)
	if session := s.policy.session; session == nil {
		d.Verdict = ask(s.policy.view)
	} else if d.Verdict, d.State = session.Decided(ask); !d.Verdict.Allowed() && p.Errno != 0 {
		d.Verdict, d.State = session.Permitting(op.To, ask)
		d.Once = int(p.Errno)
	}
	s.judged(d)
}

// host reads a host as ir.Host writes it.
func host(s string) ir.Host {
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return ir.Host{Kind: ir.HostAddr, Addr: a}
	}
	return ir.Host{Kind: ir.HostName, Name: s}
}

// told takes a packet about a request, which no call of the tool waits for.
func (s *Supervisor) told(p wire.Packet) {
	//exhaustive:ignore
	switch p.Kind {
	case wire.Ask:
		go s.askHost(p)
	case wire.Used:
		s.usedHost(p)
	case wire.Granted:
		s.grantedHost(p)
	default:
		s.refusedHost(p)
	}
}

// refusedHost reports a refusal of the proxy.
func (s *Supervisor) refusedHost(p wire.Packet) {
	if s.denied == nil {
		return
	}
	r, by, now := s.policy.refusal(p), s.egress.caller(p), time.Now()
	if s.asks.repeats(r.op, by, now) {
		return
	}
	s.denied(&denial.Denial{
		Time: now, By: r.by, Operation: r.op, Verdict: r.verdict, Why: r.why, PID: by.pid, Name: by.name,
		View: s.policy.view, Roots: s.sandbox.roots, State: r.state,
	})
}

// errNoEgress is the reason for not starting a tool whose rules name hosts.
var errNoEgress = errors.New("rules name hosts, and no egress proxy was started")
