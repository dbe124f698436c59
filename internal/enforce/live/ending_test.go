package live

import (
	"errors"
	"testing"
	"time"

	"github.com/accessc/accessc/ir"
)

// clock is a clock of a test: what was asked for happens when the test says so.
type clock struct {
	in      time.Duration
	f       func()
	stopped bool
}

func (c *clock) after(d time.Duration, f func()) (func(), error) {
	c.in, c.f = d, f
	return func() { c.stopped = true }, nil
}

// TestGrantOfATime: a grant that ends by time permits nothing after it, is asked about again, and is recorded.
func TestGrantOfATime(t *testing.T) {
	s, c := fixture(nil), &clock{}
	s.o.After = c.after
	q, result := waiting(t, s, always, reading("secrets/a"))
	if err := s.AnswerUntil(q.ID, Run, End{For: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if again, _ := result(); !again || c.in != time.Minute || !s.View().Decide(reading("secrets/a")).Allowed() {
		t.Fatalf("again %v, ends in %v", again, c.in)
	}
	c.f()
	if s.View().Decide(reading("secrets/a")).Allowed() || len(s.Grants()) > 0 {
		t.Error("it is permitted after its time")
	}
	if next, _ := waiting(t, s, always, reading("secrets/a")); next.ID == q.ID {
		t.Error("it is not asked about again")
	}
	events, _ := s.Events()
	if last := events[len(events)-2]; last.Event != "ended" || last.ID != q.ID {
		t.Errorf("the record has %+v", events)
	}
}

// TestGrantTakenBeforeItsTime: a revocation stops the clock, and the end of a grant that is gone takes no other.
func TestGrantTakenBeforeItsTime(t *testing.T) {
	s, c := fixture(nil), &clock{}
	s.o.After = c.after
	q, result := waiting(t, s, always, reading("secrets/a"))
	if err := s.AnswerUntil(q.ID, Rule, End{For: time.Minute}); err != nil {
		t.Fatal(err)
	}
	result()
	if err := s.Revoke(q.ID); err != nil || !c.stopped {
		t.Fatal(err, c.stopped)
	}
	c.f()
	if !refusedAtOnce(s, reading("secrets/a")) {
		t.Error("a revoked grant is asked about again")
	}
}

// TestGrantOfUses: a grant of three calls permits three, whichever of its operations they are, and the policy none.
func TestGrantOfUses(t *testing.T) {
	s := fixture(nil)
	q, result := waiting(t, s, always, reading("secrets/a"))
	if err := s.AnswerUntil(q.ID, Rule, End{Uses: 3}); err != nil {
		t.Fatal(err)
	}
	if again, once := result(); !again || once == nil {
		t.Fatal("the call that waits is refused")
	}
	for _, path := range []string{"secrets/b", "secrets/a"} {
		if s.View().Decide(reading(path)).Allowed() {
			t.Errorf("the policy permits %s", path)
		}
		again, once := s.Ask(Call{Ops: []ir.Operation{reading(path)}, Pending: always})
		if !again || once == nil || once.ID() != q.ID {
			t.Fatalf("%s: %v, %+v", path, again, once)
		}
		if v, ok := once.Decide(reading(path)); !ok || !v.Allowed() {
			t.Errorf("%s is not permitted", path)
		}
	}
	if !refusedAtOnce(s, reading("secrets/a")) {
		t.Error("a fourth call is permitted")
	}
	if err := s.Revoke(q.ID); !errors.Is(err, ErrUnknown) {
		t.Errorf("a grant that is used up is revoked: %v", err)
	}
}

// TestEndsThatAreNone: an end is for answers that last, and has bounds; without a clock there is no grant.
func TestEndsThatAreNone(t *testing.T) {
	s := fixture(nil)
	s.o.After = func(time.Duration, func()) (func(), error) { return nil, errors.New("no clock") }
	q, _ := waiting(t, s, always, reading("secrets/a"))
	for _, c := range []struct {
		a   Answer
		end End
	}{
		{Once, End{Uses: 2}}, {Layer, End{For: time.Minute}}, {No, End{For: time.Minute}}, {Run, End{For: -1}}, {Run, End{Uses: -1}},
		{Run, End{For: maxFor + 1}}, {Run, End{Uses: maxUses + 1}}, {Run, End{For: time.Minute}},
	} {
		if err := s.AnswerUntil(q.ID, c.a, c.end); err == nil {
			t.Errorf("%s with %+v is an answer", c.a, c.end)
		}
	}
	if pending, _ := s.Pending(); len(pending) != 1 || len(s.Grants()) > 0 {
		t.Error("the question was answered")
	}
}

// TestClockOfTheKernel: the clock calls once, and not after it was stopped.
func TestClockOfTheKernel(t *testing.T) {
	called := make(chan struct{})
	if _, err := after(time.Millisecond, func() { close(called) }); err != nil {
		t.Skip(err)
	}
	<-called
	stop, err := after(time.Hour, func() { t.Error("called after it was stopped") })
	if err != nil {
		t.Fatal(err)
	}
	stop()
}
