package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// Process is a tool that was started.
type Process struct {
	tool    string
	request Request
	streams *streams
	child   child
	// done is closed when state and err are final.
	done  chan struct{}
	state *State
	err   error
	// told has the events that Request.Events has not been told of yet.
	told *queue
	// completed counts the end of a tool without an error in its session, nil without one.
	completed func()
}

// child is a process of a tool, however it was started.
type child interface {
	pid() int
	supervised() bool
	signal(os.Signal) error
	answer(question int, a Answer) error
	revoke(question int) error
	// wait is called once.
	wait() (State, error)
}

// State is how a tool has ended.
type State struct {
	// Status is the exit status, -1 if a signal ended the tool, which Signal is then.
	Status int
	Signal syscall.Signal
	// Refused is the number of operations that the supervisor has refused, those aside that runtimes
	// try and do without.
	Refused int
	// Limit is the kind of the limit that has ended the tool, such as wall_time; empty for none.
	Limit string
	// UserTime and SystemTime are the processor time of the tool and of the processes that it waited
	// for, MaxRSS is the largest resident set of one of them in bytes; 0 where the system does not
	// tell.
	UserTime, SystemTime time.Duration
	MaxRSS               int64
}

// Success reports whether the tool has ended with status 0.
func (s *State) Success() bool { return s.Status == 0 && s.Signal == 0 }

// String describes the state as os.ProcessState does.
func (s *State) String() string {
	if s.Signal != 0 {
		return "signal: " + s.Signal.String()
	}
	return fmt.Sprintf("exit status %d", s.Status)
}

// ErrSupervisorEnded is the error of a tool whose supervisor has ended before it, and that was killed
// for that reason. As an error of Start it leaves open whether the tool has run for a moment: the supervisor
// may have ended before it could say so.
var ErrSupervisorEnded = errors.New("sandbox: the supervisor has ended, and its tools with it")

// Pid is the number of the tool's process. It may become that of another process when the tool has
// ended: send signals by Signal.
func (p *Process) Pid() int { return p.child.pid() }

// Tool is the name of the tool.
func (p *Process) Tool() string { return p.tool }

// Supervised reports whether the tool has a supervisor, which sees refusals.
func (p *Process) Supervised() bool { return p.child.supervised() }

// Signal sends a signal to the tool's process. It returns os.ErrProcessDone if the tool has ended.
func (p *Process) Signal(s os.Signal) error { return p.child.signal(s) }

// Kill ends the tool's process at once. Processes that it has started end with it where it is
// supervised.
func (p *Process) Kill() error { return p.Signal(os.Kill) }

// Done is closed when the tool has ended and its output has been copied.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits until the tool has ended and its output has been copied. Many goroutines may wait. The
// state says how the tool has ended. The error is that of copying, of a context that was done before
// the tool ended, or ErrSupervisorEnded; a status other than 0 is none.
func (p *Process) Wait() (*State, error) {
	<-p.done
	return p.state, p.err
}

// run waits for the tool.
func (p *Process) run(ctx context.Context) {
	ended := make(chan struct{})
	var telling, watch sync.WaitGroup
	if p.request.Events != nil {
		telling.Go(func() { p.tell(ended) })
	}
	var cancelled error
	if ctx.Done() != nil {
		watch.Go(func() {
			select {
			case <-ctx.Done():
				if p.Kill() == nil {
					cancelled = ctx.Err()
				}
			case <-ended:
			}
		})
	}
	state, err := p.child.wait()
	close(ended)
	watch.Wait()
	telling.Wait()
	err = errors.Join(err, p.streams.wait(p.request.WaitDelay))
	if cancelled != nil && !state.Success() {
		err = errors.Join(cancelled, err)
	}
	if p.completed != nil && state.Success() {
		p.completed()
	}
	p.state, p.err = &state, err
	p.emit(Event{Kind: Ended, State: &state})
	close(p.done)
}

// Answer answers a question of the tool, which is in force when Answer returns. The error is that of a
// question that waits no longer, or of a tool that was not started with Ask.
func (p *Process) Answer(question int, a Answer) error { return p.child.answer(question, a) }

// Revoke takes a grant back, by the number of the question that has led to it. The next operation that it
// has permitted is refused.
func (p *Process) Revoke(question int) error { return p.child.revoke(question) }

// tell tells of events until the tool has ended and there are no more.
func (p *Process) tell(ended <-chan struct{}) {
	for over := false; !over; {
		select {
		case <-p.told.more:
		case <-ended:
			over = true
		}
		for t := range p.told.all() {
			switch {
			case t.question == nil:
				p.emit(Event{Kind: Refused, Refusal: json.RawMessage(t.line)})
			case t.question.waits:
				p.emit(Event{Kind: Pending, Question: t.question})
			default:
				p.emit(Event{Kind: Withdrawn, Question: t.question})
			}
		}
	}
}

func (p *Process) emit(e Event) {
	if p.request.Events != nil {
		e.Process = p
		p.request.Events(e)
	}
}
