package egress

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/accessc/accessc/ir"
)

// judge answers what the policy permits with the grants of the run, and asks the user where a grant is missing. It
// decides nothing by itself: a Policy does.
type judge struct {
	*run
	// lent has the grants of the run, nil where none are given. asking bounds the questions that wait.
	lent   *lending
	asking chan struct{}
	// wild counts the names that are looked up below wildcards.
	wild *wildcards
}

func newJudge(r *run) *judge {
	return &judge{
		run: r, lent: newLending(r.config), asking: make(chan struct{}, maxAsking),
		wild: &wildcards{most: r.config.Limits.Wildcard, seen: map[string]*minute{}},
	}
}

// policy is the policy with the grants in force, and with a permission, if that is not nil.
func (j *judge) policy(once *permission) Policy {
	l := j.lent
	if l == nil {
		return j.config.Policy
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.with(once)
}

// A matter is the permission that a connection or a request needs.
type matter struct {
	op    ir.Connect
	judge func(Policy) ir.Verdict
	by    uint64
	// cut ends it when its grant is revoked, noted is set where its use goes into the record.
	cut   func()
	noted bool
	// conn is the client's connection, nil where none waits: a question goes away with it.
	conn net.Conn
}

// rest judges a matter and, where the verdict rests on a grant, keeps it until the returned function is
// called, so that a revocation ends it.
func (j *judge) rest(once *permission, m matter) (ir.Verdict, func()) {
	l := j.lent
	if l == nil {
		return m.judge(j.config.Policy), func() {}
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

// An Answer is the user's answer to a refused connection or request.
type Answer struct {
	// Again has it judged anew, Once permits only it, by the question with this number.
	Again bool
	Once  int
}

// Bounds on questions: how many wait at once, and how many are about one connection or request, since
// each answer can lead to another.
const (
	maxAsking = 64
	maxAsked  = 4
)

// decided is rest where the user is asked about a denied matter that can be granted. The permission is the
// given permission, or a permission that the user gave to this matter.
func (j *judge) decided(ctx context.Context, once *permission, m matter) (ir.Verdict, *permission, func()) {
	for range maxAsked {
		v, end := j.rest(once, m)
		if v.Allowed() || once != nil || j.lent == nil || j.config.Ask == nil {
			return v, once, end
		}
		op, ok := j.askable(m.op)
		if !ok {
			return v, nil, end
		}
		a, ok := j.asks(ctx, Refusal{Op: op, Verdict: v, By: m.by}, m.conn)
		if !ok {
			return v, nil, end
		}
		if a.Once != 0 {
			given, _ := j.lent.live.Host(op.To)
			once = &permission{id: a.Once, given: given}
		}
	}
	v, end := j.rest(once, m)
	return v, once, end
}

// askable is the question about a connection or request, with a scheme that can be granted where it does not
// have a scheme yet.
func (j *judge) askable(op ir.Connect) (ir.Connect, bool) {
	schemes := []string{op.To.Scheme}
	if op.To.Scheme == "" {
		schemes = []string{schemeOf(op.To.Port), schemeHTTPS, schemeHTTP, schemeStream}
	}
	for _, op.To.Scheme = range schemes {
		if _, by := j.lent.live.Host(op.To); by != nil {
			return op, true
		}
	}
	return op, false
}

// mayAsk reports whether the user can be asked about a host and port.
func (j *judge) mayAsk(h ir.Host, port uint16) bool {
	if j.lent == nil || j.config.Ask == nil {
		return false
	}
	_, ok := j.askable(ir.Connect{To: ir.Endpoint{Host: h, Port: port}})
	return ok
}

// asks waits for an answer, as long as the client does, unless too many others wait.
func (j *judge) asks(ctx context.Context, r Refusal, conn net.Conn) (Answer, bool) {
	select {
	case j.asking <- struct{}{}:
		defer func() { <-j.asking }()
	default:
		return Answer{}, false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if conn != nil {
		go watchEnd(ctx, cancel, conn)
	}
	a := j.config.Ask(ctx, r)
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
func (j *judge) admits(ctx context.Context, c *client, h ir.Host, port uint16) (Refusal, bool) {
	m := arrival(h, port, c.by, func() {})
	m.conn = c.Conn
	v, once, end := j.decided(ctx, c.permit, m)
	end()
	c.permit = once
	if v.Allowed() {
		return Refusal{}, true
	}
	_, refused := reach(j.policy(once), h, port)
	return refused, false
}

// errRevoked is the reason why a host that was granted when the tool asked for it is not reached.
const errRevoked = withheld("the grant was revoked")

// policyKey is the key of the policy in the context of a connection.
type policyKey struct{}

func judgedBy(ctx context.Context, p Policy) context.Context {
	return context.WithValue(ctx, policyKey{}, p)
}

// judging is the policy by which a connection is judged.
func (j *judge) judging(ctx context.Context) Policy {
	if by, ok := ctx.Value(policyKey{}).(Policy); ok {
		return by
	}
	return j.policy(nil)
}
