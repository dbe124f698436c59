//go:build !linux

package sandbox

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/maximum"
)

// ready is empty: the process that starts a tool asks the host about its plan.
type ready struct{ accept []string }

func (p *plan) prepare(h *Host) error {
	p.accept = h.config.Accept
	return nil
}

func (*plan) drop() {}

// engine starts each tool by a process of its own: this program again, which becomes the tool, or on
// Windows stays with it.
type engine struct {
	mu     sync.Mutex
	live   map[*again]bool
	closed bool
	ends   sync.WaitGroup
}

func newEngine() *engine { return &engine{live: map[*again]bool{}} }

// asked is the document for that process, failure its answer if the tool did not start.
type asked struct {
	Artifact []byte        `json:"artifact"`
	Under    maximum.Stamp `json:"under"`
	Accept   []string      `json:"accept"`
	Program  []byte        `json:"program"`
	Args     texts         `json:"args"`
	Call     carried       `json:"call"`
	Environ  texts         `json:"environ"`
	Dir      []byte        `json:"dir"`
}

type failure struct {
	Code int         `json:"code"`
	Text string      `json:"text"`
	Gaps []start.Gap `json:"gaps,omitempty"`
}

// start starts a tool. Without a supervisor there are no refusals to tell of.
func (e *engine) start(p *plan, req start.Request, files [3]*os.File, _ func(told)) (child, error) {
	doc, err := json.Marshal(asked{
		p.text, p.under, p.accept, []byte(req.Program), req.Args, carried(req.Call), req.Environ, []byte(req.Dir),
	})
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, ErrClosed
	}
	e.ends.Add(1)
	e.mu.Unlock()
	process, err := launch(doc, files)
	if err != nil {
		e.ends.Done()
		return nil, err
	}
	c := &again{e, process}
	e.mu.Lock()
	e.live[c] = true
	over := e.closed
	e.mu.Unlock()
	if over {
		_ = process.Kill()
	}
	return c, nil
}

// launch starts the process and waits until it has started the tool.
func launch(doc []byte, files [3]*os.File) (*os.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	in, question, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answer, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), question.Close())
	}
	defer answer.Close()
	process, err := startAgain(self, files, in, out)
	runtime.KeepAlive(files)
	_, _ = in.Close(), out.Close()
	if err != nil {
		return nil, errors.Join(err, question.Close())
	}
	_, err = question.Write(doc)
	err = errors.Join(err, question.Close())
	var said []byte
	if err == nil {
		said, err = io.ReadAll(answer)
	}
	if err == nil && len(said) == 0 {
		return process, nil
	}
	var f failure
	if err == nil {
		err = json.Unmarshal(said, &f)
	}
	if err == nil {
		err = &start.Error{Code: f.Code, Err: errors.New(f.Text), Unmet: f.Gaps}
	}
	_ = process.Kill()
	_, _ = process.Wait()
	return nil, err
}

// serveAgain is the process that starts a tool. It returns only when the tool has not started.
func serveAgain(in, out *os.File) error {
	data, err := io.ReadAll(in)
	_ = in.Close()
	var a asked
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	req := start.Request{
		Under: a.Under, Accept: a.Accept, Program: string(a.Program), Args: a.Args, Call: start.Call(a.Call),
		Environ: a.Environ, Dir: string(a.Dir),
		Messages: io.Discard, Started: func() { _ = out.Close() },
	}
	if err == nil {
		req.Spec, err = start.Parse(a.Artifact)
	}
	if err == nil {
		err = start.Start(req)
	}
	f := failure{Code: start.CodeFailed, Text: err.Error()}
	var e *start.Error
	if errors.As(err, &e) {
		f = failure{e.Code, e.Err.Error(), e.Unmet}
	}
	if text, err := json.Marshal(f); err == nil {
		_, _ = out.Write(text)
	}
	return err
}

// again is such a process: the tool, or on Windows its loader.
type again struct {
	engine *engine
	*os.Process
}

func (a *again) pid() int                 { return a.Pid }
func (a *again) supervised() bool         { return false }
func (a *again) signal(s os.Signal) error { return a.Process.Signal(s) }

func (a *again) answer(int, Answer) error { return errNotAsked }
func (a *again) revoke(int) error         { return errNotAsked }

func (a *again) wait() (State, error) {
	state, err := a.Process.Wait()
	a.engine.mu.Lock()
	delete(a.engine.live, a)
	a.engine.mu.Unlock()
	a.engine.ends.Done()
	if err != nil {
		return State{Status: -1}, err
	}
	out := State{Status: state.ExitCode(), UserTime: state.UserTime(), SystemTime: state.SystemTime()}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		out.Signal = ws.Signal()
	}
	return out, nil
}

func (e *engine) close() error {
	e.mu.Lock()
	e.closed = true
	for c := range e.live {
		_ = c.Kill()
	}
	e.mu.Unlock()
	e.ends.Wait()
	return nil
}
