package sandbox

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/enforce/supervisor"
)

// attended is a tool of a helper.
type attended struct {
	link    *link
	engine  *engine
	run     uint64
	number  int
	told    func(told)
	replies map[uint64]chan error
	// plan and id lead to its remains.
	plan    *start.Plan
	id      start.Identity
	started chan error
	end     chan end
	begun   bool
}

// end is how a tool of a helper has ended, err why that is not known.
type end struct {
	start.Ended
	err error
}

// hear takes news of the tool, on the goroutine that reads.
func (a *attended) hear(n *news) {
	switch n.Kind {
	case newsStarted:
		a.number, a.begun = n.PID, true
		a.started <- nil
	case newsFailed:
		a.link.forget(a)
		a.started <- &start.Error{Code: n.Code, Err: errors.New(n.Text), Unmet: n.Gaps}
	case newsRefused:
		a.told(told{line: n.Line})
	case newsLive:
		if q := questionOf(n.Live); q != nil {
			a.told(told{question: q})
		}
	case newsReply:
		a.reply(n.Reply, n.Text)
	case newsEnded:
		a.link.forget(a)
		a.unanswered()
		a.end <- end{Ended: *n.End}
	case newsHello, newsWorn:
	}
}

// lost ends a tool whose helper has ended.
func (a *attended) lost() {
	a.unanswered()
	dir, further := a.plan.Remains(a.engine.base, a.id)
	_ = start.Sweep(dir, further...)
	if !a.begun {
		a.started <- ErrSupervisorEnded
		return
	}
	a.end <- end{start.Ended{End: supervisor.End{Status: syscall.WaitStatus(unix.SIGKILL)}}, ErrSupervisorEnded}
}

// errLate is the outcome of an answer to a tool that has ended meanwhile.
var errLate = os.ErrProcessDone

// order sends an order and waits for its outcome.
func (a *attended) order(o order) error {
	out := make(chan error, 1)
	o.Run, o.Reply = a.run, a.engine.number()
	a.link.mu.Lock()
	if a.link.runs[a.run] == nil {
		a.link.mu.Unlock()
		return errLate
	}
	if a.replies == nil {
		a.replies = map[uint64]chan error{}
	}
	a.replies[o.Reply] = out
	a.link.mu.Unlock()
	if err := a.link.send(o); err != nil {
		return err
	}
	return <-out
}

// reply gives the outcome of an order to the one who waits.
func (a *attended) reply(number uint64, text string) {
	a.link.mu.Lock()
	out := a.replies[number]
	delete(a.replies, number)
	a.link.mu.Unlock()
	switch {
	case out == nil:
	case text != "":
		out <- errors.New(text)
	default:
		out <- nil
	}
}

// unanswered ends the waits for outcomes that do not come.
func (a *attended) unanswered() {
	a.link.mu.Lock()
	defer a.link.mu.Unlock()
	for number, out := range a.replies {
		delete(a.replies, number)
		out <- errLate
	}
}

func (a *attended) answer(question int, answer Answer) error {
	return a.order(order{Kind: orderAnswer, Question: question, Answer: live.Answer(answer)})
}

func (a *attended) revoke(question int) error {
	return a.order(order{Kind: orderRevoke, Question: question})
}

func (a *attended) pid() int         { return a.number }
func (a *attended) supervised() bool { return true }

func (a *attended) signal(s os.Signal) error {
	sig, ok := s.(syscall.Signal)
	if !ok {
		return errors.New("sandbox: not a signal of this system")
	}
	a.link.mu.Lock()
	_, runs := a.link.runs[a.run]
	a.link.mu.Unlock()
	if !runs {
		return os.ErrProcessDone
	}
	return a.link.send(order{Kind: orderSignal, Run: a.run, Signal: int(sig)})
}

func (a *attended) wait() (State, error) {
	defer a.engine.untrack(a)
	e := <-a.end
	return stateOf(e.Ended), e.err
}

// questionOf is a question that comes or goes, nil for the other events of a run.
func questionOf(e *live.Event) *Question {
	if e == nil || e.Event != "question" && e.Event != "answer" && e.Event != "withdrawn" {
		return nil
	}
	return &Question{
		ID: e.ID, Operation: e.Operation, Path: e.Path, Rule: e.Rule, Grants: e.Grants, PID: e.PID, Name: e.Name, waits: e.Event == "question",
	}
}
