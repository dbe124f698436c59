package live

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/accessc/accessc/ir"
)

// End says when a grant ends by itself; the zero value is never.
type End struct {
	// For is how long it is in force, by a clock that nobody sets and that goes on while the machine sleeps.
	For time.Duration `json:"for,omitempty"`
	// Uses is how many calls it permits, that which waits included.
	Uses int `json:"uses,omitempty"`
}

// The bounds of an End.
const (
	maxFor  = 7 * 24 * time.Hour
	maxUses = 1_000_000
)

// check refuses an end that an answer cannot have.
func (e End) check(a Answer) error {
	switch {
	case e == End{}:
		return nil
	case e.For < 0 || e.For > maxFor || e.Uses < 0 || e.Uses > maxUses:
		return fmt.Errorf("a grant ends after at most %v, or %d uses", maxFor, maxUses)
	case a != Run && a != Rule:
		return errors.New("only the answers run and rule can end: once ends with its call, write is for further runs")
	}
	return nil
}

// counted is a grant of a number of calls. It is no part of the policy: each call that it covers is asked about, and
// answered by it, so no two calls use one up.
type counted struct {
	Grant
	left int
}

// spend answers a question by a counted grant, if one covers it.
func (s *Session) spend(q *Question, given ir.Given) bool {
	i := slices.IndexFunc(s.counted, func(c *counted) bool { return q.Answered(s.live.With(given.And(c.Rules))) })
	if i < 0 {
		return false
	}
	c := s.counted[i]
	q.ID = c.ID
	if c.left--; c.left == 0 {
		s.stop(c.ID)
		s.counted = slices.Delete(s.counted, i, i+1)
		s.note(Event{Event: "ended", ID: c.ID, Time: s.o.Now(), Rule: ruleText(c.By, plain)})
	}
	q.outcome <- outcome{once: &Allowance{session: s, question: q, grants: c.Rules}}
	return true
}

// limit has a grant end after a time. A host that has no such clock has no such grants.
func (s *Session) limit(id int, d time.Duration) error {
	if d == 0 {
		return nil
	}
	stop, err := s.o.After(d, func() { s.lapse(id) })
	if err == nil {
		s.timers[id] = stop
	}
	return err
}

func (s *Session) stop(id int) {
	if stop := s.timers[id]; stop != nil {
		stop()
	}
	delete(s.timers, id)
}

// lapse ends a grant whose time is over. Its operations are asked about again.
func (s *Session) lapse(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone, ok := s.take(id)
	if !ok {
		return
	}
	s.note(Event{Event: "ended", ID: id, Time: s.o.Now(), Rule: ruleText(gone.By, plain)})
	s.wake()
}

// take takes a grant out of force.
func (s *Session) take(id int) (gone Grant, ok bool) {
	s.stop(id)
	s.counted = slices.DeleteFunc(s.counted, func(c *counted) bool {
		if c.ID == id {
			gone, ok = c.Grant, true
		}
		return c.ID == id
	})
	grants := s.Grants()
	i := slices.IndexFunc(grants, func(g Grant) bool { return g.ID == id })
	if ok || i >= 0 {
		s.changes(Change{ID: id}, i >= 0)
	}
	if i < 0 {
		return gone, ok
	}
	gone = grants[i]
	s.exchange(slices.Delete(grants, i, i+1))
	if len(gone.Rules.Net) > 0 && s.o.Hosts != nil {
		s.o.Hosts.Revoke(id)
	}
	return gone, true
}
