package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/accessc/accessc/ir"
)

// Limits bound the proxy's use of memory, descriptors and time.
type Limits struct {
	// Connections is the number of connections of the tool at once, and of requests in them;
	// further ones are closed, or answered with 503.
	Connections int
	// Questions is the number of DNS questions that wait for the host's resolver at once.
	Questions int
	// Names is the number of names that the stub knows at once.
	Names int
	// Wildcard is the number of names below one wildcard that are looked up within a minute: the
	// names themselves carry data to the owner of the zone.
	Wildcard int
	// Header is the size of a request's header in bytes.
	Header int
	// Handshake is the time until a client has made its request, Dial that until a host has
	// accepted, Idle that of a connection without a byte.
	Handshake, Dial, Idle time.Duration
}

// DefaultLimits are those of a run.
func DefaultLimits() Limits {
	return Limits{
		Connections: 16384, Questions: 256, Names: 65536, Wildcard: 120, Header: 64 << 10,
		Handshake: 10 * time.Second, Dial: 30 * time.Second, Idle: time.Hour,
	}
}

// Config is the run of a proxy: its policy, its ways out and its bounds.
type Config struct {
	Policy Policy
	// Resolve returns what a name leads to.
	Resolve func(ctx context.Context, name string) (Found, error)
	// Dial connects to an address that was judged.
	Dial func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// Authority signs for hosts whose rules say inspect, nil without such rules.
	Authority *Authority
	// Roots are the authorities by which hosts are known whose connections are inspected, and the
	// caller's own proxy, nil for those of the system.
	Roots *x509.CertPool
	// Secrets are the values for rules with a credential, nil without such rules.
	Secrets *Secrets
	// Token lets connections in that were not announced: the tool's clients say it as the password
	// of the proxy's URL. Empty for none.
	Token string
	// Own returns this host's addresses as they are now, which a name does not grant; nil for none.
	Own func() []netip.Addr
	// Proxy returns the caller's own proxy for a URL, nil for none or if there is no such proxy.
	// Hosts behind one are asked for by name, and their addresses stay unknown: only literal
	// addresses are filtered then.
	Proxy func(*url.URL) (*url.URL, error)
	// Live has the grants that the user can give during the run, nil for none. Ask has the user decide about a
	// refused connection or request, and Used is told of each use of a grant by its number.
	Live *ir.Live
	Ask  func(context.Context, Refusal) Answer
	Used func(id int, op ir.Connect, by uint64)
	// Refused is told of every refusal. Sentence says it to the client.
	Refused  func(Refusal)
	Sentence func(ir.Operation, ir.Verdict) string
	Limits   Limits
}

// A Refusal is a request that the policy denies, or that the proxy cannot judge.
type Refusal struct {
	Op      ir.Operation
	Verdict ir.Verdict
	// Why is the reason where it is not the policy's: the request itself.
	Why string
	// By is the number under which the supervisor knows the process that asked, 0 for none.
	By uint64
}

// An Origin says how a connection reached the proxy.
type Origin struct {
	// Host and Port are where the tool wanted to connect to. Host is zero for a connection to the
	// proxy itself, which says in its first bytes where it wants to go.
	Host ir.Host
	Port uint16
	// Resolver is set for questions to the stub over TCP.
	Resolver bool
	// Upstream is a connection to the host that was made already, nil for none.
	Upstream net.Conn
	// By is the number under which the supervisor knows the process that connects.
	By uint64
	// permit is the permission that the user gave the connection alone, nil for none.
	permit *permission
}

// Proxy serves the tool of one run.
type Proxy struct {
	config    Config
	pool      *Pool
	tcp       []net.Listener // IPv4, and IPv6 where the host has it
	plain     *feed          // connections that carry HTTP
	server    *http.Server
	transport *http.Transport
	buffers   buffers
	ctx       context.Context
	cancel    context.CancelFunc
	wild      wildcards
	questions chan struct{}
	slots     chan struct{}
	requests  chan struct{}
	hellos    chan struct{}
	// lent has the grants of the run, nil where none are given. asking bounds the questions that wait.
	lent    *lending
	asking  chan struct{}
	running sync.WaitGroup

	mu       sync.Mutex
	expected map[netip.AddrPort][]*announcement // in the order of their connections
	open     map[io.Closer]struct{}
	closed   bool
}

// Start listens on the loopback addresses.
func Start(config Config) (*Proxy, error) {
	p := &Proxy{
		config: config, pool: newPool(config.Limits.Names), plain: newFeed(), slots: make(chan struct{}, config.Limits.Connections),
		expected: map[netip.AddrPort][]*announcement{}, open: map[io.Closer]struct{}{}, questions: make(chan struct{}, config.Limits.Questions),
		requests: make(chan struct{}, config.Limits.Connections), hellos: make(chan struct{}, maxHellos),
		wild: wildcards{most: config.Limits.Wildcard, seen: map[string]*minute{}},
	}
	p.lent, p.asking = newLending(&config), make(chan struct{}, maxAsking)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if err := p.listen("127.0.0.1:0"); err != nil {
		p.cancel()
		return nil, err
	}
	// A host without IPv6 has no such address, and its tools no such sockets.
	_ = p.listen("[::1]:0")
	p.server = &http.Server{
		Handler: http.HandlerFunc(p.request), ConnContext: withOrigin, ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: config.Limits.Handshake, IdleTimeout: config.Limits.Idle, MaxHeaderBytes: config.Limits.Header,
		DisableGeneralOptionsHandler: true,
	}
	p.transport = p.newTransport()
	if p.lent != nil {
		p.lent.transport = p.newTransport()
	}
	p.running.Add(1)
	go func() {
		defer p.running.Done()
		_ = p.server.Serve(p.plain)
	}()
	return p, nil
}

// listen opens the sockets for one loopback address.
func (p *Proxy) listen(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	p.tcp = append(p.tcp, l)
	p.running.Add(1)
	go p.accept(l)
	return nil
}

func addrPort(a net.Addr) netip.AddrPort {
	switch a := a.(type) {
	case *net.TCPAddr:
		return netip.AddrPortFrom(a.AddrPort().Addr().Unmap(), a.AddrPort().Port())
	}
	return netip.AddrPort{}
}

func (p *Proxy) listens6() bool { return len(p.tcp) > 1 }

// Listener returns the address for connections of a family, false where this host has none.
func (p *Proxy) Listener(v6 bool) (netip.AddrPort, bool) {
	if v6 && !p.listens6() {
		return netip.AddrPort{}, false
	}
	return addrPort(p.tcp[index(v6)].Addr()), true
}

func index(v6 bool) int {
	if v6 {
		return 1
	}
	return 0
}

// An announcement is a connection that was announced and has not come yet.
type announcement struct {
	origin Origin
	expiry *time.Timer
}

func (a *announcement) drop() {
	a.expiry.Stop()
	if a.origin.Upstream != nil {
		_ = a.origin.Upstream.Close()
	}
}

// Expect announces a connection from a local address. Others are closed unless there is a token:
// they are not the tool's. The caller takes the announcement back if it does not connect; it expires, so that it
// is not another program's that gets the address later.
func (p *Proxy) Expect(from netip.AddrPort, o Origin) {
	a := &announcement{origin: o}
	p.mu.Lock()
	defer p.mu.Unlock()
	a.expiry = time.AfterFunc(p.config.Limits.Handshake, func() { p.forget(from, a) })
	if p.closed {
		a.drop()
		return
	}
	// One that was reset may wait to be accepted while its port is used again.
	p.expected[from] = append(p.expected[from], a)
}

// Forget takes back the last announcement of Expect.
func (p *Proxy) Forget(from netip.AddrPort) { p.forget(from, nil) }

// forget takes an announcement back, nil for the last one.
func (p *Proxy) forget(from netip.AddrPort, only *announcement) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.expected[from]
	i := len(list) - 1
	if only != nil {
		i = slices.Index(list, only)
	}
	if i < 0 {
		return
	}
	list[i].drop()
	p.keep(from, slices.Delete(list, i, i+1))
}

// keep sets the announcements of an address.
func (p *Proxy) keep(from netip.AddrPort, list []*announcement) {
	if len(list) == 0 {
		delete(p.expected, from)
		return
	}
	p.expected[from] = list
}

// announced returns the origin of a connection that came, once.
func (p *Proxy) announced(from netip.AddrPort) (Origin, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.expected[from]
	if len(list) == 0 {
		return Origin{}, false
	}
	p.keep(from, list[1:])
	list[0].expiry.Stop()
	return list[0].origin, true
}

// accept takes connections that were announced.
func (p *Proxy) accept(l net.Listener) {
	defer p.running.Done()
	for {
		conn, err := l.Accept()
		if err != nil {
			var temporary interface{ Temporary() bool }
			if errors.As(err, &temporary) && temporary.Temporary() {
				time.Sleep(10 * time.Millisecond) // no descriptors are left: wait for some
				continue
			}
			return
		}
		o, announced := p.announced(addrPort(conn.RemoteAddr()))
		if !announced && p.config.Token == "" || !p.admit(conn) {
			_ = conn.Close()
			if o.Upstream != nil {
				_ = o.Upstream.Close()
			}
			continue
		}
		go func() {
			defer p.running.Done()
			p.serve(&client{Conn: conn, proxy: p, origin: o, by: o.By, permit: o.permit, stranger: !announced, end: make(chan struct{})})
		}()
	}
}

// admit takes a slot for a connection of the tool, which drop gives back.
func (p *Proxy) admit(c io.Closer) bool {
	select {
	case p.slots <- struct{}{}:
	default:
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		<-p.slots
		return false
	}
	p.open[c] = struct{}{}
	p.running.Add(1)
	return true
}

func (p *Proxy) drop(c io.Closer) {
	p.untrack(c)
	<-p.slots
}

// track remembers an open connection, so that Close ends it.
func (p *Proxy) track(c io.Closer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.open[c] = struct{}{}
	return true
}

func (p *Proxy) untrack(c io.Closer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

// Close ends all connections.
func (p *Proxy) Close() {
	p.cancel()
	for _, l := range p.tcp {
		_ = l.Close()
	}
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		_ = c.Close()
	}
	for _, list := range p.expected {
		for _, a := range list {
			a.drop()
		}
	}
	clear(p.expected)
	p.mu.Unlock()
	_ = p.server.Close()
	p.transport.CloseIdleConnections()
	if p.lent != nil {
		p.lent.transport.CloseIdleConnections()
	}
	p.running.Wait()
}

func (p *Proxy) refused(r Refusal) {
	if p.config.Refused != nil {
		p.config.Refused(r)
	}
}

// sentence says a refusal in the words of every report.
func (p *Proxy) sentence(r Refusal) string {
	if r.Why != "" {
		return "accessc: " + r.Why
	}
	return "accessc: " + p.config.Sentence(r.Op, r.Verdict)
}
