package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/accessc/accessc/ir"
)

// Call is a refused call that may be granted.
type Call struct {
	// Ops are the operations that have to be permitted.
	Ops []ir.Operation
	// PID and Name are those of the process, which has chosen the name itself.
	PID  int
	Name string
	// Pending reports whether the call still waits.
	Pending func() bool
	// Within is how long the call waits for an answer, 0 for any time.
	Within time.Duration
}

// Question is a call that waits for an answer.
type Question struct {
	ID   int
	Call Call
	// Done is closed when the question has been answered or withdrawn.
	Done chan struct{}
	ir.Question
	key     string
	outcome chan outcome
}

// outcome is the effect of an answer on a call: refused where neither is set.
type outcome struct {
	// again has the call judged again, once has the operations that are permitted to it alone.
	again bool
	once  *Allowance
}

// patience is how often a waiting call is looked at.
const patience = 50 * time.Millisecond

// Ask waits for the answer to a refused call. With again the call is to be judged anew, with the
// operations that once permits, if that is not nil; otherwise it stays refused.
func (s *Session) Ask(c Call) (again bool, once *Allowance) {
	q := s.question(c)
	if q == nil {
		return false, nil
	}
	tick := time.NewTicker(patience)
	defer tick.Stop()
	var late <-chan time.Time
	if c.Within > 0 {
		late = time.After(c.Within)
	}
	for {
		select {
		case out := <-q.outcome:
			return out.again || out.once != nil, out.once
		case <-late:
			s.unasked(q)
		case <-tick.C:
			if !c.Pending() {
				s.withdraw(q)
			}
		}
	}
}

// Asks reports whether operations that were denied are for the user to grant. It takes no lock.
func (s *Session) Asks(ops []ir.Operation) bool { return s.live.Covers(s.View(), ops...) }

// question puts a call among the waiting ones, nil where it is refused at once.
func (s *Session) question(c Call) *Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now.Load()
	_, host := target(c.Ops)
	if host && !s.hasRoom() {
		return nil
	}
	found, ok := s.live.Ask(now.view, rulesOf(now.grants), c.Ops...)
	q := &Question{Question: found, Call: c, key: key(c.Ops), outcome: make(chan outcome, 1), Done: make(chan struct{})}
	if !ok && (ir.Question{Ops: c.Ops}).Answered(now.view) {
		// A grant came while the call was being refused.
		q.outcome <- outcome{again: true}
		return q
	}
	if !ok || s.denies(q) {
		return nil
	}
	if s.spend(q, rulesOf(now.grants)) {
		return q
	}
	if host {
		s.hosts++
	}
	s.last++
	q.ID = s.last
	s.pending = append(s.pending, q)
	s.note(Event{Event: "question"}.of(s, q))
	s.wake()
	return q
}

// key tells questions apart that are the same operations.
func key(ops []ir.Operation) string {
	if to, ok := target(ops); ok {
		return hostPort(to)
	}
	var b strings.Builder
	for _, op := range ops {
		fmt.Fprintf(&b, "%T%v\x00", op, op)
	}
	return b.String()
}

// withdraw takes a question back whose call waits no longer.
func (s *Session) withdraw(q *Question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.pending, q) {
		s.note(Event{Event: "withdrawn"}.of(s, q))
		s.settle(q, outcome{})
		s.wake()
	}
}

// unasked refuses a question that could not be asked.
func (s *Session) unasked(q *Question) { _ = s.Answer(q.ID, Unasked) }

// Pending are the questions that wait, and a channel that is closed when one comes or goes.
func (s *Session) Pending() ([]*Question, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pending), s.due
}

// Allowance permits the operations of one question to one call.
type Allowance struct {
	session  *Session
	question *Question
	// grants permit them: those of the question, or of an answer that permits a number of calls.
	grants ir.Given
}

// Decide judges an operation of the question, under the grants that are in force now and those
// of the answer.
func (a *Allowance) Decide(op ir.Operation) (ir.Verdict, bool) {
	if !slices.Contains(a.question.Ops, op) {
		return ir.Verdict{}, false
	}
	given := rulesOf(a.session.now.Load().grants)
	return a.session.live.With(given.And(a.grants)).Decide(op), true
}

// ID is that of the question.
func (a *Allowance) ID() int { return a.question.ID }

// Uses lists the grants without which an operation would be denied.
func (s *Session) Uses(op ir.Operation) []int {
	now := s.now.Load()
	if len(now.grants) == 0 || s.live.Own().Decide(op).Allowed() {
		return nil
	}
	var out []int
	about := ir.Describe(op)
	for _, g := range now.grants {
		covers := slices.ContainsFunc(g.Rules.FS, func(r ir.FSRule) bool {
			for i, p := range about.Places {
				if p.At.Under(r.At) && about.Needs[i]&r.Caps != 0 {
					return true
				}
			}
			return false
		})
		if covers {
			out = append(out, g.ID)
		}
	}
	return out
}
