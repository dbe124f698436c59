package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/ir"
)

// lending has the grants that the user gives during a run, and the connections and requests that
// rest on them.
// See RATIONALE D216.
type lending struct {
	live  *ir.Live
	mu    sync.Mutex
	given map[int]given
	view  *ir.View
	uses  map[*use]struct{}
	// patience is how long connections may take to end.
	patience time.Duration
	// used is told of each use of a grant.
	used func(id int, op ir.Connect, by uint64)
	// transport has connections of its own for requests that rest on grants, which end with them: one that a rule's
	// requests share would go on, with all bytes that wait in it.
	// See RATIONALE D335.
	transport *http.Transport
}

// given is one grant, and the policy with it alone.
type given struct {
	ir.Given
	view *ir.View
}

// A permission is a grant for one connection or request alone.
type permission struct {
	id    int
	given ir.Given
}

// use is a connection or request that rests on a grant.
type use struct {
	judge func(Policy) ir.Verdict
	cut   func()
	ended chan struct{}
}

func newLending(c *Config) *lending {
	if c.Live == nil {
		return nil
	}
	return &lending{live: c.Live, given: map[int]given{}, view: c.Live.With(ir.Given{}), uses: map[*use]struct{}{}, patience: maxCut, used: c.Used}
}

// policy is the policy with the grants in force, and with a permission, if that is not nil.
func (p *Proxy) policy(once *permission) Policy {
	l := p.lent
	if l == nil {
		return p.config.Policy
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.with(once)
}

func (l *lending) with(once *permission) *ir.View {
	if once == nil {
		return l.view
	}
	return l.live.With(l.all().And(once.given))
}

// all are the grants in force.
func (l *lending) all() (out ir.Given) {
	for _, g := range l.given {
		out = out.And(g.Given)
	}
	return out
}

// A matter is the permission that a connection or a request needs.
type matter struct {
	op    ir.Connect
	judge func(Policy) ir.Verdict
	by    uint64
	// cut ends it when its grant is revoked, noted is set where its use is one for the record.
	cut   func()
	noted bool
	// conn is the client's connection, nil where none waits: a question goes away with it.
	conn net.Conn
}

// rest judges a matter and, where the verdict rests on a grant, keeps it until the returned function is
// called, so that a revocation ends it.
func (p *Proxy) rest(once *permission, m matter) (ir.Verdict, func()) {
	l := p.lent
	if l == nil {
		return m.judge(p.config.Policy), func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	v, id := m.judge(l.view), 0
	switch {
	case l.live.Lent(v):
		id = l.by(m.judge)
	case !v.Allowed() && once != nil:
		v, id = m.judge(l.with(once)), once.id
	}
	if !l.live.Lent(v) {
		return v, func() {}
	}
	if m.noted && l.used != nil {
		l.used(id, m.op, m.by)
	}
	if once != nil && id == once.id {
		return v, func() {}
	}
	u := &use{judge: m.judge, cut: m.cut, ended: make(chan struct{})}
	l.uses[u] = struct{}{}
	return v, sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.uses, u)
		close(u.ended)
	})
}

// carries reports whether a request is sent by connections that end with its grant.
func (l *lending) carries(v ir.Verdict, once *permission) bool {
	return l != nil && once == nil && l.live.Lent(v)
}

// by is the number of the first grant that suffices for a matter.
func (l *lending) by(judge func(Policy) ir.Verdict) (first int) {
	for id, g := range l.given {
		if (first == 0 || id < first) && judge(g.view).Allowed() {
			first = id
		}
	}
	return first
}

// Grant puts a grant about a host and port in force, or with whole one about all that its rule covers.
func (p *Proxy) Grant(id int, to ir.Endpoint, whole bool) {
	l := p.lent
	rules, by := l.live.Host(to)
	if whole && by != nil {
		rules = rules.And(l.live.Whole(by))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given[id] = given{rules, l.live.With(rules)}
	l.view = l.live.With(l.all())
}

// errUncut is a connection that does not end although its grant was revoked.
var errUncut = errors.New("a connection whose grant was revoked does not end")

// maxCut is the patience with connections that must end.
const maxCut = 5 * time.Second

// Revoke takes a grant back, ends the connections and requests that rested on it, and returns when
// they have ended. After an error the proxy must end.
func (p *Proxy) Revoke(id int) error {
	l := p.lent
	l.mu.Lock()
	delete(l.given, id)
	l.view = l.live.With(l.all())
	var over []*use
	for u := range l.uses {
		if !u.judge(l.view).Allowed() {
			over = append(over, u)
		}
	}
	l.mu.Unlock()
	points.Reach(points.Revoked)
	for _, u := range over {
		u.cut()
	}
	points.Reach(points.Cut)
	p.transport.CloseIdleConnections()
	l.transport.CloseIdleConnections()
	late := time.After(l.patience)
	for _, u := range over {
		select {
		case <-u.ended:
		case <-late:
			return errUncut
		}
	}
	return nil
}

// maxGrace is how long a request whose grant was revoked may take to end by itself.
const maxGrace = time.Second

// An ending ends a request whose grant is revoked. The exchange with the host ends at once. The client's stream of
// HTTP/2, and at last its connection, is closed only where the request does not end by that, as one whose answer the client does not
// read: the connection may carry others, which rest on rules.
type ending struct {
	conn net.Conn
	// stream is nil where the request has no stream of its own.
	stream *http.ResponseController
	cancel func()
	mu     sync.Mutex
	over   bool
	late   *time.Timer
}

func (e *ending) cut() {
	e.cancel()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.over {
		e.late = time.AfterFunc(maxGrace, e.close)
	}
}

func (e *ending) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	over := time.Unix(1, 0)
	switch s := e.stream; {
	case e.over:
	case s != nil && s.SetReadDeadline(over) == nil && s.SetWriteDeadline(over) == nil:
		e.stream, e.late = nil, time.AfterFunc(maxGrace, e.close)
	default:
		reset(e.conn)
	}
}

// end is called when the request has ended.
func (e *ending) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over = true; e.late != nil {
		e.late.Stop()
	}
}

// An Answer is the user's answer to a refused connection or request.
type Answer struct {
	// Again has it judged anew, Once permits it alone, by the question with this number.
	Again bool
	Once  int
}

// Bounds on questions: those that wait at once, and those about one connection or request, which each
// answer can lead to.
const (
	maxAsking = 64
	maxAsked  = 4
)

// decided is rest where the user is asked about a denied matter that can be granted. The permission is the
// given one, or one that the user gave to this matter.
func (p *Proxy) decided(ctx context.Context, once *permission, m matter) (ir.Verdict, *permission, func()) {
	for range maxAsked {
		v, end := p.rest(once, m)
		if v.Allowed() || once != nil || p.lent == nil || p.config.Ask == nil {
			return v, once, end
		}
		op, ok := p.askable(m.op)
		if !ok {
			return v, nil, end
		}
		a, ok := p.asks(ctx, Refusal{Op: op, Verdict: v, By: m.by}, m.conn)
		if !ok {
			return v, nil, end
		}
		if a.Once != 0 {
			given, _ := p.lent.live.Host(op.To)
			once = &permission{id: a.Once, given: given}
		}
	}
	v, end := p.rest(once, m)
	return v, once, end
}

// askable is the question about a connection or request, with a scheme that can be granted where it does not
// have one yet.
func (p *Proxy) askable(op ir.Connect) (ir.Connect, bool) {
	schemes := []string{op.To.Scheme}
	if op.To.Scheme == "" {
		schemes = []string{schemeOf(op.To.Port), schemeHTTPS, schemeHTTP, schemeStream}
	}
	for _, op.To.Scheme = range schemes {
		if _, by := p.lent.live.Host(op.To); by != nil {
			return op, true
		}
	}
	return op, false
}

// mayAsk reports whether the user can be asked about a host and port.
func (p *Proxy) mayAsk(h ir.Host, port uint16) bool {
	if p.lent == nil || p.config.Ask == nil {
		return false
	}
	_, ok := p.askable(ir.Connect{To: ir.Endpoint{Host: h, Port: port}})
	return ok
}

// asks waits for an answer, as long as the client does, unless too many others wait.
func (p *Proxy) asks(ctx context.Context, r Refusal, conn net.Conn) (Answer, bool) {
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	default:
		return Answer{}, false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if conn != nil {
		go watchEnd(ctx, cancel, conn)
	}
	a := p.config.Ask(ctx, r)
	return a, a.Again || a.Once != 0
}

// watchEnd cancels a question when the client has ended its connection.
func watchEnd(ctx context.Context, cancel context.CancelFunc, conn net.Conn) {
	const patience = 100 * time.Millisecond
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if ended(conn) {
				cancel()
				return
			}
		}
	}
}

// reaches judges a connection to a host and port, whatever it will carry.
func reaches(h ir.Host, port uint16) func(Policy) ir.Verdict {
	return func(p Policy) ir.Verdict {
		granted, refused := reach(p, h, port)
		for _, scheme := range []string{schemeOf(port), schemeHTTPS, schemeHTTP, schemeStream} {
			if v, ok := granted[scheme]; ok {
				return v
			}
		}
		return refused.Verdict
	}
}

// arrival is the matter of a connection to a host and port.
func arrival(h ir.Host, port uint16, by uint64, cut func()) matter {
	return matter{op: ir.Connect{To: ir.Endpoint{Host: h, Port: port}}, judge: reaches(h, port), by: by, cut: cut}
}

// admits reports whether a client may connect to a host and port, and the refusal to report otherwise. The
// user is asked where that can be granted.
func (p *Proxy) admits(ctx context.Context, c *client, h ir.Host, port uint16) (Refusal, bool) {
	m := arrival(h, port, c.by, func() {})
	m.conn = c.Conn
	v, once, end := p.decided(ctx, c.permit, m)
	end()
	c.permit = once
	if v.Allowed() {
		return Refusal{}, true
	}
	_, refused := reach(p.policy(once), h, port)
	return refused, false
}

// dialed connects to a host and port for a client, as long as the connection is granted, with the scheme
// that it will probably carry.
func (p *Proxy) dialed(ctx context.Context, once *permission, h ir.Host, port uint16) (net.Conn, ir.Endpoint, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v, end := p.rest(once, arrival(h, port, 0, cancel))
	defer end()
	to := ir.Endpoint{Host: h, Port: port}
	if !v.Allowed() {
		return nil, to, errRevoked
	}
	policy := p.policy(once)
	granted, _ := reach(policy, h, port)
	to.Scheme = likely(granted, port)
	conn, err := p.dial(judgedBy(ctx, policy), to)
	return conn, to, err
}

// errRevoked is the reason why a host that was granted when the tool asked for it is not reached.
const errRevoked = withheld("the grant was revoked")

// policyKey is the key of the policy in the context of a connection.
type policyKey struct{}

func judgedBy(ctx context.Context, p Policy) context.Context {
	return context.WithValue(ctx, policyKey{}, p)
}

// judging is the policy by which a connection is judged.
func (p *Proxy) judging(ctx context.Context) Policy {
	if by, ok := ctx.Value(policyKey{}).(Policy); ok {
		return by
	}
	return p.policy(nil)
}
