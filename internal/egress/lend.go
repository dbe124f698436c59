package egress

import (
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
// See decision D216.
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
	// transport has connections of its own for requests that rest on grants, which end with them: a connection that
	// a rule's requests share would go on, with all bytes that wait in it.
	// See decision D335.
	transport *http.Transport
}

// given is one grant, and the policy with no other.
type given struct {
	ir.Given
	view *ir.View
}

// A permission is a grant for only one connection or request.
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
	return &lending{live: c.Live, given: map[int]given{}, view: c.Live.With(ir.Given{}), uses: map[*use]struct{}{},
		patience: maxCut, used: c.Used}
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

// grant puts a grant about a host and port in force, or with whole a grant about all that its rule
// covers.
func (l *lending) grant(id int, to ir.Endpoint, whole bool) {
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

// revoke takes a grant back, ends the connections and requests that rested on it, also idle ones, and returns when
// they have ended. After an error the proxy must end.
func (l *lending) revoke(id int, idle func()) error {
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
	idle()
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
// HTTP/2, and at last its connection, is closed only where the request does not end by that, as a request whose answer
// the client does not read: the connection may carry others, which rest on rules.
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
