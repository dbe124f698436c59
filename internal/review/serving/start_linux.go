package serving

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/gate/serve"
	"github.com/accessc/accessc/sandbox"
)

// served is a tool that this process has started, or its helper.
type served struct{ *sandbox.Process }

// startHere starts a tool in the server's own sandbox.
func (h *Host) startHere(s *serve.Start) (serve.Process, error) {
	req := sandbox.Request{
		Tool: s.Tool, Args: s.Args, Dir: s.Dir, Env: s.Env,
		Ask: s.Ask, Stdin: s.Streams[0], Stdout: s.Streams[1], Stderr: s.Streams[2],
		Action: s.Call.Action, Arguments: s.Call.Arguments, Answers: s.Call.Answers, Options: s.Call.Options,
		WorkspaceID: s.Call.WorkspaceID, ConversationID: s.Call.ConversationID, Session: s.Session,
	}
	if s.Command != nil {
		req.Program, req.Args = s.Command[0], append(s.Command[1:len(s.Command):len(s.Command)], s.Args...)
	}
	if s.Tell != nil {
		req.Events = func(e sandbox.Event) { tellOf(s.Tell, e) }
	}
	p, err := h.host.Start(context.Background(), req)
	if err != nil {
		return nil, notServed(err)
	}
	closeFiles(s.Streams[:])
	return served{p}, nil
}

// notServed is the error of a start for a client.
func notServed(err error) error {
	out := &serve.Error{Reason: serve.NotStarted, Text: err.Error(), Status: start.CodeFailed}
	var started *sandbox.StartError
	var policy *sandbox.PolicyError
	switch {
	case errors.As(err, &policy):
		out.Reason, out.Status = serve.Config, 0
	case errors.As(err, &started):
		out.Status = started.Code
	}
	return out
}

// PID implements serve.Process.
func (p served) PID() int { return p.Pid() }

// Signal implements serve.Process.
func (p served) Signal(s syscall.Signal) error { return p.Process.Signal(s) }

// Kill implements serve.Process.
func (p served) Kill() { _ = p.Process.Kill() }

// Wait implements serve.Process.
func (p served) Wait() serve.Status {
	state, err := p.Process.Wait()
	switch {
	case state.Signal != 0:
		return serve.Status{
			Code:   128 + int(state.Signal),
			Signal: strings.TrimPrefix(unix.SignalName(state.Signal), "SIG"),
		}
	case err != nil:
		return serve.Status{Code: start.CodeFailed}
	default:
		return serve.Status{Code: state.Status}
	}
}

// Answer implements serve.Process.
func (p served) Answer(question int, answer string) error {
	return p.Process.Answer(question, sandbox.Answer(answer))
}

// Revoke implements serve.Process.
func (p served) Revoke(grant int) error { return p.Process.Revoke(grant) }

// question is an operation that waits for an answer, in the words of accessc grants.
type question struct {
	ID        int      `json:"id"`
	Operation string   `json:"operation,omitempty"`
	Path      string   `json:"path,omitempty"`
	Rule      string   `json:"rule,omitempty"`
	Grants    []string `json:"grants,omitempty"`
	PID       int      `json:"pid,omitempty"`
	Name      string   `json:"name,omitempty"`
}

// tellOf tells a client of the events of its tool.
func tellOf(tell func(kind string, what any), e sandbox.Event) {
	switch e.Kind {
	case sandbox.Refused:
		tell(serve.Refused, e.Refusal)
	case sandbox.Pending:
		q := e.Question
		tell(serve.Asks, question{q.ID, q.Operation, q.Path, q.Rule, q.Grants, q.PID, q.Name})
	case sandbox.Withdrawn:
		tell(serve.Withdrawn, question{ID: e.Question.ID})
	case sandbox.Ended:
		// Its status is that of Wait.
	}
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
