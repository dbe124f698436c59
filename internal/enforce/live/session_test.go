package live

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

// fixture is a session of a tool that may be granted reading of secrets, and changes of out.
func fixture(write func([]ir.Operation) error) *Session {
	tool := ir.NewTool("t")
	tool.Declared.FS = true
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.Caps(ir.Read)}, {At: ir.In("secrets")}}
	tool.May = []ir.FSRule{
		{At: ir.In("secrets"), Caps: ir.Caps(ir.Read), Origin: ir.Origin{Layer: ir.LayerWorkspace}},
		{At: ir.In("out"), Caps: ir.Write},
	}
	roots := &ir.Bindings{Workspace: "/ws"}
	return New(ir.NewLive(tool, ir.Linux, ir.Facts{Bindings: roots}), Options{
		Tool: "t", Roots: roots, Exchange: func(change func()) { change() }, Write: write, Record: true,
	})
}

func reading(path string) ir.Operation { return ir.Access{Cap: ir.Read, On: ir.Direct(ir.In(path))} }

// waiting asks in the background, and returns the question and a function that waits for its answer.
func waiting(t *testing.T, s *Session, pending func() bool, ops ...ir.Operation) (*Question, func() (bool, *Allowance)) {
	t.Helper()
	before, _ := s.Pending()
	type result struct {
		again bool
		once  *Allowance
	}
	done := make(chan result, 1)
	go func() {
		again, once := s.Ask(Call{Ops: ops, Pending: pending})
		done <- result{again, once}
	}()
	var q *Question
	for q == nil {
		now, due := s.Pending()
		if len(now) > len(before) {
			q = now[len(now)-1]
			break
		}
		await.Receive(t, "a question", due)
	}
	return q, func() (bool, *Allowance) { r := <-done; return r.again, r.once }
}

func always() bool { return true }

// refusedAtOnce reports whether a call is refused without a question.
func refusedAtOnce(s *Session, ops ...ir.Operation) bool {
	again, _ := s.Ask(Call{Ops: ops, Pending: func() bool { return false }})
	pending, _ := s.Pending()
	return !again && len(pending) == 0
}

func answer(t *testing.T, s *Session, id int, a Answer) {
	t.Helper()
	if err := s.Answer(id, a); err != nil {
		t.Fatal(err)
	}
}

// TestOnce: the answer permits the operation to the call alone, and to no other.
func TestOnce(t *testing.T) {
	s := fixture(nil)
	q, result := waiting(t, s, always, reading("secrets/a"))
	answer(t, s, q.ID, Once)
	again, once := result()
	if !again || once == nil || once.ID() != q.ID {
		t.Fatal(again, once)
	}
	if v, ok := once.Decide(reading("secrets/a")); !ok || !v.Allowed() {
		t.Error("not permitted")
	}
	for _, op := range []ir.Operation{reading("secrets/b"), ir.Access{Cap: ir.Update, On: ir.Direct(ir.In("secrets/a"))}} {
		if _, ok := once.Decide(op); ok {
			t.Errorf("%v is permitted", op)
		}
	}
	if s.View().Decide(reading("secrets/a")).Allowed() || len(s.Grants()) != 0 {
		t.Error("it is permitted to others")
	}
}

// TestOnceWithoutRevoked: a call that is permitted once is judged without a grant revoked since.
func TestOnceWithoutRevoked(t *testing.T) {
	s := fixture(nil)
	q, result := waiting(t, s, always, ir.Access{Cap: ir.Create, On: ir.Direct(ir.In("out/a"))})
	answer(t, s, q.ID, Rule)
	if again, _ := result(); !again {
		t.Fatal("refused")
	}
	rename := ir.Link{Src: ir.Direct(ir.In("secrets/a")), Dst: ir.Direct(ir.In("out/a"))}
	if !refusedAtOnce(s, rename) { // update of the source is not for the user to grant
		t.Fatal("asked about a link")
	}
	both := []ir.Operation{reading("secrets/a"), ir.Access{Cap: ir.Create, On: ir.Direct(ir.In("out/b"))}}
	q2, result2 := waiting(t, s, always, both...)
	answer(t, s, q2.ID, Once)
	_, once := result2()
	if err := s.Revoke(q.ID); err != nil {
		t.Fatal(err)
	}
	if v, ok := once.Decide(both[1]); !ok || v.Allowed() {
		t.Error("a revoked grant is in use")
	}
}

// TestAnswers: a grant settles the other questions that it answers, a refusal is remembered, and
// never ends all questions.
func TestAnswers(t *testing.T) {
	s := fixture(nil)
	q1, r1 := waiting(t, s, always, reading("secrets/a"))
	_, r2 := waiting(t, s, always, reading("secrets/a"))
	q3, r3 := waiting(t, s, always, reading("secrets/b"))
	answer(t, s, q1.ID, Run)
	for _, r := range []func() (bool, *Allowance){r1, r2} {
		if again, once := r(); !again || once != nil {
			t.Error("not granted")
		}
	}
	answer(t, s, q3.ID, No)
	if again, _ := r3(); again || !refusedAtOnce(s, reading("secrets/b")) {
		t.Error("a refusal was forgotten")
	}
	if !refusedAtOnce(s, ir.Access{Cap: ir.Update, On: ir.Direct(ir.In("src"))}) {
		t.Error("asked about what the list does not cover")
	}
	q5, r5 := waiting(t, s, always, reading("secrets/c"))
	q6, r6 := waiting(t, s, always, reading("secrets/d"))
	answer(t, s, q5.ID, Never)
	for _, r := range []func() (bool, *Allowance){r5, r6} {
		if again, _ := r(); again {
			t.Error("granted by never")
		}
	}
	if err := s.Answer(q6.ID, Run); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if !refusedAtOnce(s, reading("secrets/e")) {
		t.Error("asked after never")
	}
	events, _ := s.Events()
	var told []string
	for _, e := range events {
		told = append(told, fmt.Sprint(e.Event, e.ID, e.Answer))
	}
	if got := strings.Join(told, " "); got != "question1 question2 question3 answer1run answer3no question4 question5 answer4never" {
		t.Error(got)
	}
}

// TestNoAnswer: a client's text that is no answer was written to the record as one.
func TestNoAnswer(t *testing.T) {
	s := fixture(nil)
	q, result := waiting(t, s, always, reading("secrets/a"))
	if err := s.Answer(q.ID, "perhaps"); err == nil {
		t.Error("perhaps is an answer")
	}
	if events, _ := s.Events(); len(events) != 1 {
		t.Errorf("the record has %v", events)
	}
	answer(t, s, q.ID, No)
	if again, once := result(); again || once != nil {
		t.Error("permitted")
	}
}

// TestRevoke: a revoked operation is refused, and not asked about again.
func TestRevoke(t *testing.T) {
	s := fixture(nil)
	q, r := waiting(t, s, always, reading("secrets/a"))
	answer(t, s, q.ID, Rule)
	r()
	if !s.View().Decide(reading("secrets/b")).Allowed() || len(s.Uses(reading("secrets/b"))) != 1 || s.Uses(reading("src")) != nil {
		t.Error("the rule is not granted")
	}
	if err := s.Revoke(q.ID); err != nil {
		t.Fatal(err)
	}
	if s.View().Decide(reading("secrets/b")).Allowed() || !refusedAtOnce(s, reading("secrets/b")) {
		t.Error("it is permitted, or asked about")
	}
	if err := s.Revoke(q.ID); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// TestWithdrawn: a question goes away with its call.
func TestWithdrawn(t *testing.T) {
	s := fixture(nil)
	var mu sync.Mutex
	gone := false
	q, r := waiting(t, s, func() bool { mu.Lock(); defer mu.Unlock(); return !gone }, reading("secrets/a"))
	mu.Lock()
	gone = true
	mu.Unlock()
	if again, _ := r(); again {
		t.Error("granted")
	}
	<-q.Done
	if err := s.Answer(q.ID, Once); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// TestWrite: an operation that cannot be written is not granted, and its question stays.
func TestWrite(t *testing.T) {
	fails := errors.New("sensitive")
	var written []ir.Operation
	s := fixture(func(ops []ir.Operation) error { written = ops; return fails })
	q, r := waiting(t, s, always, reading("secrets/a"))
	if err := s.Answer(q.ID, Layer); !errors.Is(err, fails) || len(s.Grants()) != 0 {
		t.Fatal(err)
	}
	fails = nil
	answer(t, s, q.ID, Layer)
	if again, _ := r(); !again || len(written) != 1 || written[0] != reading("secrets/a") {
		t.Error(written)
	}
}

// TestBounded: a tool that asks about ever more does not crowd out the answers in the record.
func TestBounded(t *testing.T) {
	s := fixture(nil)
	for range maxCaused + 10 {
		s.Used([]Use{{1, reading("secrets/a")}}, 1, "x")
	}
	s.record.add(Event{Event: "answer"})
	events, lost := s.Events()
	if len(events) != maxCaused+1 || lost != 10 {
		t.Error(len(events), lost)
	}
	for i := range maxRefused + 1 {
		s.refuse(fmt.Sprint(i))
	}
	if !s.silent || len(s.refused) != maxRefused {
		t.Error("refusals are not bounded")
	}
}
