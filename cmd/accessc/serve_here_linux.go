package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/serve"
	"github.com/accessc/accessc/internal/start"
	"github.com/accessc/accessc/sandbox"
)

// served is a tool that this process has started, or its helper.
type served struct{ *sandbox.Process }

// startHere starts a tool in the server's own sandbox.
func (h *serveHost) startHere(s *serve.Start) (serve.Process, error) {
	req := sandbox.Request{
		Tool: s.Tool, Args: s.Args, Dir: s.Dir, Env: s.Env,
		Stdin: s.Streams[0], Stdout: s.Streams[1], Stderr: s.Streams[2],
		Call: sandbox.Call{
			Action: s.Call.Action, Arguments: s.Call.Arguments, Answers: s.Call.Answers, Options: s.Call.Options,
			WorkspaceID: s.Call.WorkspaceID, ConversationID: s.Call.ConversationID,
		},
	}
	if s.Command != nil {
		req.Program, req.Args = s.Command[0], append(s.Command[1:len(s.Command):len(s.Command)], s.Args...)
	}
	if s.Refused != nil {
		req.Events = func(e sandbox.Event) {
			if e.Kind == sandbox.Refused {
				s.Refused(e.Refusal)
			}
		}
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
	case errors.As(err, &started):
		out.Status = started.Code
	case errors.As(err, &policy):
		out.Reason, out.Status = serve.Config, 0
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
		return serve.Status{Code: 128 + int(state.Signal), Signal: strings.TrimPrefix(unix.SignalName(state.Signal), "SIG")}
	case err != nil:
		return serve.Status{Code: start.CodeFailed}
	default:
		return serve.Status{Code: state.Status}
	}
}

var errAsks = errors.New("the run asks nothing")

// Answer implements serve.Process.
func (p served) Answer(int, string) error { return errAsks }

// Revoke implements serve.Process.
func (p served) Revoke(int) error { return errAsks }

func closeFiles(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
