package live

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/accessc/accessc/ir"
)

// Answer is the user's answer to a question.
type Answer string

// The answers.
const (
	// Once permits the one call that waits.
	Once Answer = "once"
	// Run permits the operation until the run ends or the grant is revoked.
	Run Answer = "run"
	// Rule permits all that the rule of may covers, for as long.
	Rule Answer = "rule"
	// Layer is Run, and the operation is written to the local layer.
	Layer Answer = "write"
	// No refuses the operation for the rest of the run, Never every further question.
	No    Answer = "no"
	Never Answer = "never"
	// Unasked refuses an operation that could not be asked about, or was not answered in time.
	Unasked Answer = "unasked"
)

// grants reports whether an answer permits something.
func (a Answer) grants() bool { return a == Once || a == Run || a == Rule || a == Layer }

// known reports whether an answer is one of those above.
func (a Answer) known() bool { return a.grants() || a == No || a == Never || a == Unasked }

// Options are the settings of a session.
type Options struct {
	// Tool is the name of the tool.
	Tool string
	// Roots are the places of the policy on this host.
	Roots *ir.Bindings
	// Exchange calls its argument while no call is judged or carried out.
	Exchange func(func())
	// Hosts is told of grants about hosts, nil where nothing connects to any.
	Hosts Hosts
	// Write writes operations to the local layer, nil where there is none.
	Write func([]ir.Operation) error
	// Tell, if not nil, gets every event as it happens. It must not call the session.
	Tell func(Event)
	// Changed, if not nil, gets every answer and revocation before it is in force. It must not call the session.
	Changed func(Change)
	// Record has the session keep events. A tool can cause many, with long paths.
	Record bool
	// Now is the time. After calls a function after a time, unless it is stopped before.
	Now   func() time.Time
	After func(d time.Duration, f func()) (stop func(), err error)
}

// Change is an answer to a question, or the revocation of a grant.
type Change struct {
	// ID is that of the question; Answer is empty for a revocation, and for the end of the grant's time.
	ID     int
	Answer Answer
	// State is the number of the state that it leads to, 0 where it changes none.
	State int
	// Uses is how many calls the answer permits, 0 where they are not counted.
	Uses int
	// Given are the grants of the question, By the rule of may; nothing for a revocation.
	Given ir.Given
	By    ir.Rule
}

// changes tells of a change, which leads to another state or not.
func (s *Session) changes(c Change, another bool) {
	if s.o.Changed == nil {
		return
	}
	if another {
		c.State = s.now.Load().number + 1
	}
	s.o.Changed(c)
}

// Session is the grants of one run. It is safe for concurrent use.
type Session struct {
	o    Options
	live *ir.Live
	// now is the state that calls are judged by.
	now atomic.Pointer[state]
	// record has the events of the session.
	record journal

	// mu guards the following, and makes answers and revocations one after the other.
	mu      sync.Mutex
	pending []*Question
	// due is closed when a question comes or goes.
	due     chan struct{}
	refused map[string]bool
	// silent is set where no question is asked any more.
	silent bool
	last   int
	// hosts counts the questions about hosts.
	hosts int
	// counted are the grants of a number of calls, and timers stop the ends of grants by time.
	counted []*counted
	timers  map[int]func()
	// revoked are the grants that were taken back, formerly is the policy with them.
	revoked  ir.Given
	formerly *ir.View
}

// note keeps an event and tells of it.
func (s *Session) note(e Event) {
	if s.o.Record {
		s.record.add(e)
	}
	if s.o.Tell != nil {
		s.o.Tell(e)
	}
}

// state is the grants in force and the policy with them.
type state struct {
	// number counts the states of the session from 0.
	number int
	view   *ir.View
	// before is the view of the state before, nil for the first.
	before *ir.View
	grants []Grant
}

// Grant is an answer that is in force.
type Grant struct {
	ID     int       `json:"id"`
	Answer Answer    `json:"answer"`
	Given  time.Time `json:"given"`
	// Rules are the places and capabilities or the host, By is the rule of may.
	Rules ir.Given `json:"-"`
	By    ir.Rule  `json:"-"`
	End
}

func rulesOf(gs []Grant) (out ir.Given) {
	for _, g := range gs {
		out = out.And(g.Rules)
	}
	return out
}

// maxRefused bounds the refusals that are remembered; behind it nothing is asked any more.
const maxRefused = 4096

// New starts a session without grants.
func New(l *ir.Live, o Options) *Session {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = after
	}
	s := &Session{o: o, live: l, refused: map[string]bool{}, due: make(chan struct{}), timers: map[int]func(){}}
	s.now.Store(&state{view: l.With(ir.Given{})})
	return s
}

// View is the policy with the grants in force.
func (s *Session) View() *ir.View { return s.now.Load().view }

// InForce is View, with the number of the state of grants that it is about.
func (s *Session) InForce() (*ir.View, int) {
	now := s.now.Load()
	return now.view, now.number
}

// Decided judges a request that another process has granted. It knew the answers and revocations that are under way
// here before or after this process.
func (s *Session) Decided(ask func(*ir.View) ir.Verdict) (ir.Verdict, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now.Load()
	v := ask(now.view)
	if !v.Allowed() && now.before != nil {
		if before := ask(now.before); before.Allowed() {
			return before, now.number - 1
		}
	}
	return v, now.number
}

// Permitting judges a request by the grants in force and that of a question about its host.
func (s *Session) Permitting(to ir.Endpoint, ask func(*ir.View) ir.Verdict) (ir.Verdict, int) {
	now := s.now.Load()
	given, _ := s.live.Host(to)
	return ask(s.live.With(rulesOf(now.grants).And(given))), now.number
}

// Grants are those in force.
func (s *Session) Grants() []Grant { return slices.Clone(s.now.Load().grants) }

// ErrUnknown is returned for a question or grant that is not there, or no longer.
var ErrUnknown = errors.New("there is no such question or grant")

// exchange puts other grants in force.
func (s *Session) exchange(grants []Grant) {
	now := s.now.Load()
	next := &state{number: now.number + 1, view: s.live.With(rulesOf(grants)), before: now.view, grants: grants}
	s.o.Exchange(func() { s.now.Store(next) })
}

// Answer answers a question. When it returns, the answer is in force.
func (s *Session) Answer(id int, a Answer) error { return s.AnswerUntil(id, a, End{}) }

// AnswerUntil is Answer with a grant that ends by itself.
func (s *Session) AnswerUntil(id int, a Answer, end End) error {
	if err := end.check(a); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.pending, func(q *Question) bool { return q.ID == id })
	if i < 0 {
		return ErrUnknown
	}
	if !a.known() {
		return fmt.Errorf("%q is no answer", string(a))
	}
	q := s.pending[i]
	if a == Layer {
		if s.o.Write == nil {
			return errors.New("there is no local layer to write to")
		}
		if err := s.o.Write(lasting(q.Ops)); err != nil {
			return err
		}
	}
	if err := s.limit(q.ID, end.For); err != nil {
		return err
	}
	s.note(Event{Event: "answer", Answer: a, End: end}.of(s, q))
	another := a.grants() && a != Once && end.Uses == 0
	s.changes(Change{ID: q.ID, Answer: a, Uses: end.Uses, Given: q.Grants, By: q.By}, another)
	switch a {
	case Once:
		s.settle(q, outcome{once: &Allowance{session: s, question: q, grants: q.Grants}})
	case Run, Rule, Layer:
		rules := q.Grants
		if a == Rule {
			rules = s.live.Whole(q.By).And(q.Grants)
		}
		grant := Grant{ID: q.ID, Answer: a, Given: s.o.Now(), Rules: rules, By: q.By, End: end}
		if end.Uses > 0 {
			if end.Uses > 1 {
				s.counted = append(s.counted, &counted{grant, end.Uses - 1})
			} else {
				s.stop(q.ID)
			}
			s.settle(q, outcome{once: &Allowance{session: s, question: q, grants: rules}})
			break
		}
		if to, ok := target(q.Ops); ok && s.o.Hosts != nil {
			s.o.Hosts.Grant(q.ID, to, a == Rule)
		}
		s.exchange(append(s.Grants(), grant))
		s.settle(q, outcome{again: true})
	case No:
		s.refuse(q.key)
		s.settle(q, outcome{})
	case Never:
		s.silent = true
		s.settle(q, outcome{})
	case Unasked:
		s.settle(q, outcome{})
	}
	s.review()
	return nil
}

func (s *Session) refuse(key string) {
	if len(s.refused) >= maxRefused {
		s.silent = true
		return
	}
	s.refused[key] = true
}

// Revoke takes a grant back. When it returns, no operation uses the grant any more, and none is
// asked for again.
func (s *Session) Revoke(id int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone, ok := s.take(id)
	if !ok {
		return ErrUnknown
	}
	s.revoked = s.revoked.And(gone.Rules)
	s.formerly = s.live.With(rulesOf(s.Grants()).And(s.revoked))
	s.note(Event{Event: "revoked", ID: gone.ID, Time: s.o.Now(), Rule: ruleText(gone.By, plain)})
	s.review()
	return nil
}

// review settles the questions that the latest answer answers as well.
func (s *Session) review() {
	for _, q := range slices.Clone(s.pending) {
		var out outcome
		switch {
		case q.Answered(s.View()):
			out.again = true
		case s.denies(q):
		default:
			continue
		}
		s.settle(q, out)
		if s.o.Tell != nil {
			s.o.Tell(Event{Event: "withdrawn"}.of(s, q))
		}
	}
	s.wake()
}

// denies reports whether a question needs no asking: it was refused before, or a revoked grant
// covered it.
func (s *Session) denies(q *Question) bool {
	return s.silent || s.refused[q.key] || s.formerly != nil && q.Answered(s.formerly)
}

// settle ends a question.
func (s *Session) settle(q *Question, out outcome) {
	s.pending = slices.DeleteFunc(s.pending, func(o *Question) bool { return o == q })
	q.outcome <- out
	close(q.Done)
}

// wake tells those who wait for questions that there is another one, or one less.
func (s *Session) wake() {
	close(s.due)
	s.due = make(chan struct{})
}
