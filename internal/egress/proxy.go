package egress

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/accessc/accessc/ir"
)

// Limits bound the proxy's use of memory, descriptors and time.
type Limits struct {
	// Connections is the number of connections of the tool at once, and of requests in them;
	// further connections are closed, and further requests answered with 503.
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
	// Handshake is the time until a client has made its request, Dial the time until a host has
	// accepted, Idle the time of a connection without a byte.
	Handshake, Dial, Idle time.Duration
}

// DefaultLimits are the limits of a run.
func DefaultLimits() Limits {
	return Limits{
		Connections: 16384, Questions: 256, Names: 65536, Wildcard: 120, Header: 64 << 10,
		Handshake: 10 * time.Second, Dial: 30 * time.Second, Idle: time.Hour,
	}
}

// Config is the run of a proxy: its policy, its ways out and its bounds.
type Config struct {
	Policy Policy
	// Resolve returns the result for a name.
	Resolve func(ctx context.Context, name string) (Found, error)
	// Dial connects to an address that was judged.
	Dial func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// Authority signs for hosts whose rules say inspect, nil without such rules.
	Authority *Authority
	// Roots are the authorities by which hosts are known whose connections are inspected, and the
	// caller's own proxy, nil for the authorities of the system.
	Roots *x509.CertPool
	// Secrets are the values for rules with a credential, nil without such rules.
	Secrets *Secrets
	// Token lets connections in that were not announced: the tool's clients say it as the password
	// of the proxy's URL. Empty for none.
	Token string
	// Own returns this host's addresses as they are now, which a name does not grant; nil for none.
	Own func() []netip.Addr
	// Proxy returns the caller's own proxy for a URL, nil for none or if there is no such proxy.
	// Hosts behind a proxy are asked for by name, and their addresses stay unknown: only literal
	// addresses are filtered then.
	Proxy func(*url.URL) (*url.URL, error)
	// Live has the grants that the user can give during the run, nil for none. Ask has the user decide about a
	// refused connection or request, and Used is told of each use of a grant by its number.
	Live *ir.Live
	Ask  func(context.Context, Refusal) Answer
	Used func(id int, op ir.Connect, by uint64)
	// Refused is told of every refusal. Sentence says it to the client.
	Refused func(Refusal)
	// Tells has Granted be told of every request and connection before it is carried, with the number of the question
	// whose answer permits it alone, 0 for none.
	Tells    bool
	Granted  func(r Refusal, once int)
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
	// permit is the permission that the user gave only the connection, nil for none.
	permit *permission
}

// run is what all parts of a proxy share: the configuration, the names that stand for addresses, and the run's end.
type run struct {
	config *Config
	pool   *Pool
	ctx    context.Context
	cancel context.CancelFunc
}

// Proxy serves the tool of one run. Its parts, from the socket to the host: listeners take the tool's connections, the
// greeter finds out what they speak, requests and tunnels serve HTTP and other bytes, the stub answers questions for
// names, judge decides and asks the user, and the dialer connects, to addresses that the filter lets through.
type Proxy struct {
	*run
	*listeners
	judge    *judge
	dialer   *dialer
	stub     *stub
	requests *requests
}

// Start listens on the loopback addresses.
func Start(config Config) (*Proxy, error) {
	r := &run{config: &config, pool: newPool(config.Limits.Names)}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	p := &Proxy{run: r, listeners: newListeners(r), judge: newJudge(r)}
	p.dialer = newDialer(r, p.judge)
	p.stub = &stub{
		run: r, judge: p.judge, dialer: p.dialer, listeners: p.listeners,
		questions: make(chan struct{}, config.Limits.Questions),
	}
	through := &tunnels{
		run: r, judge: p.judge, dialer: p.dialer, listeners: p.listeners, plain: newFeed(),
		hellos: make(chan struct{}, maxHellos),
	}
	p.requests = newRequests(r, p.judge, p.dialer, through)
	first := &greeter{run: r, judge: p.judge, dialer: p.dialer, stub: p.stub, tunnels: through}
	if err := p.listen("127.0.0.1:0", first.serve); err != nil {
		r.cancel()
		return nil, err
	}
	// A host without IPv6 has no such address, and its tools no such sockets.
	_ = p.listen("[::1]:0", first.serve)
	p.running.Add(1)
	go func() {
		defer p.running.Done()
		_ = p.requests.server.Serve(through.plain)
	}()
	return p, nil
}

// Grant puts a grant about a host and port in force, or with whole a grant about all that its rule
// covers.
func (p *Proxy) Grant(id int, to ir.Endpoint, whole bool) { p.judge.lent.grant(id, to, whole) }

// Revoke takes a grant back, ends the connections and requests that rested on it, and returns when
// they have ended. After an error the proxy must end.
func (p *Proxy) Revoke(id int) error {
	return p.judge.lent.revoke(id, p.requests.senders.idle)
}

// Close ends all connections.
func (p *Proxy) Close() {
	p.cancel()
	p.listeners.close()
	_ = p.requests.server.Close()
	p.requests.senders.idle()
	p.running.Wait()
}

// granted tells of a request or connection of a process that is going to be carried.
func (r *run) granted(by uint64, to ir.Connect, once *permission) {
	if r.config.Granted == nil {
		return
	}
	number := 0
	if once != nil {
		number = once.id
	}
	r.config.Granted(Refusal{Op: to, By: by}, number)
}

// refused reports a refusal.
func (r *run) refused(what Refusal) {
	if r.config.Refused != nil {
		r.config.Refused(what)
	}
}

// sentence says a refusal in the words of every report.
func (r *run) sentence(what Refusal) string {
	if what.Why != "" {
		return "accessc: " + what.Why
	}
	return "accessc: " + r.config.Sentence(what.Op, what.Verdict)
}
