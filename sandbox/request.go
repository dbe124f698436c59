package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/gate/invocations"
)

// Request is one start of a tool.
type Request struct {
	// Tool is the name of a tool of the configuration. It may be empty where Program is set, for a
	// program under the default policy.
	Tool string
	// Program, if set, is started under the tool's policy in place of the tool's own command: a bare
	// name is looked up in the PATH that the policy forwards, a path counts from the workspace.
	Program string
	// Args are added to the tool's command, or are those of Program.
	Args []string
	// Arguments, Answers and Options are JSON objects that the tool finds in its Context and in the
	// placeholders of its command: the model's arguments, the user's answers to questions of the tool,
	// and the host's configuration of the tool. Nil is none.
	Arguments, Answers, Options json.RawMessage
	// Action is run, also where it is empty, or format_arguments, for a tool that is to show how a run
	// would look.
	Action string
	// WorkspaceID and ConversationID are the host's names for them, up to 256 bytes; no paths.
	WorkspaceID, ConversationID string
	// Session, if set, counts this start of Tool in the session of that name, together with all processes of the user that
	// take part in it, and holds the constraints of the tool: how often it may be started, and after which others. The name
	// has up to 256 bytes of visible characters. A start that fails uses nothing up, and a
	// tool that needs this one first may be started once it has ended with status 0.
	Session string
	// Dir is where the tool starts, if that lies in the workspace; otherwise it starts at the root
	// of the workspace.
	Dir string
	// Env is the environment that the policy forwards variables from, in the form of os.Environ; nil
	// means that of the Config.
	Env []string
	// Stdin, Stdout and Stderr are as in os/exec.Cmd: nil is the null device, an *os.File is given to
	// the tool, anything else is copied through a pipe. A socket must be a connected stream.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Ask has refused operations that access.may covers wait for Process.Answer; Events, which must be
	// set, is told of them. Linux only.
	Ask bool
	// WaitDelay bounds how long pipes may stay open after the tool has ended, or the context has:
	// processes that a tool without a supervisor has left running may hold them. 0 is without bound.
	WaitDelay time.Duration
	// Events, if not nil, is called for every event of the run, one at a time. The last one has the
	// kind Ended and comes before Wait returns.
	Events func(Event)
}

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	// Refused is an operation that the supervisor has refused. The kernel's own refusals, which are
	// all of a tool that nothing supervises, are not seen.
	Refused EventKind = "refused"
	// Pending is an operation that waits for Process.Answer, Withdrawn one that waits no longer, since
	// it was answered or its process has ended. A question that waits no longer before Events was told of it is left out.
	Pending   EventKind = "pending"
	Withdrawn EventKind = "withdrawn"
	// Ended is the end of the tool.
	Ended EventKind = "ended"
)

// Event is something that happened to a tool.
type Event struct {
	Kind EventKind
	// Process is the tool. Start may not have returned it yet.
	Process *Process
	// Refusal describes a refused operation, for Refused: one line of JSON in the form of
	// docs/denials.md, with the rule that decided and the configuration that would permit it. After
	// 16 MiB of them a run has no more, but a last one whose event is "lost", with their count.
	Refusal json.RawMessage
	// Question is the operation, for Pending and Withdrawn.
	Question *Question
	// State is how the tool ended, for Ended.
	State *State
}

// StartError is the error of a start that failed, for whatever reason: the tool has not run. Err, by [errors.Is] and
// [errors.As], tells more: [ErrClosed], the error of the context, or a *[PolicyError].
type StartError struct {
	// Code is the status that a shell would give: 125 for a sandbox that cannot be made, 126 for a
	// program that cannot run, 127 for one that was not found.
	Code int
	// Gaps are the names of requirements of the policy that this system does not meet; each can be
	// accepted by Config.Accept.
	Gaps []string
	Err  error
}

// Error implements error.
func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap implements the errors convention.
func (e *StartError) Unwrap() error { return e.Err }

// startError gives an error of a start its public form. After ErrSupervisorEnded the tool may have run.
func startError(err error) error {
	var e *start.Error
	switch {
	case err == nil, errors.Is(err, ErrSupervisorEnded):
		return err
	case !errors.As(err, &e):
		return &StartError{Code: start.CodeFailed, Err: err}
	}
	out := &StartError{Code: e.Code, Err: err}
	for _, g := range e.Unmet {
		out.Gaps = append(out.Gaps, string(g.Name))
	}
	return out
}

// call is the host's call of the tool.
func (r *Request) call() start.Call {
	return start.Call{
		Action: r.Action, Arguments: r.Arguments, Answers: r.Answers, Options: r.Options,
		WorkspaceID: r.WorkspaceID, ConversationID: r.ConversationID,
	}
}

// carried is a call between processes, where an object that is not there stays so.
type carried struct {
	Action         string          `json:"action,omitempty"`
	Arguments      json.RawMessage `json:"arguments,omitempty"`
	Answers        json.RawMessage `json:"answers,omitempty"`
	Options        json.RawMessage `json:"options,omitempty"`
	WorkspaceID    string          `json:"workspace_id,omitempty"`
	ConversationID string          `json:"conversation_id,omitempty"`
}

// Start starts a tool. Each error but ErrSupervisorEnded is a *StartError, and the tool has not run. The context kills
// the tool when it is done before the tool has ended.
func (h *Host) Start(ctx context.Context, r Request) (*Process, error) {
	p, err := h.start(ctx, r)
	return p, startError(err)
}

func (h *Host) start(ctx context.Context, r Request) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, word := range r.Args {
		if strings.Contains(word, "\x00") {
			return nil, errors.New("sandbox: an argument has a zero byte")
		}
	}
	if r.Ask && r.Events == nil {
		return nil, errUnheard
	}
	p, err := h.plan(&r)
	var session *invocations.Session
	if err == nil {
		session, err = h.count(&r, p.tool)
	}
	if err != nil {
		return nil, err
	}
	started := false
	defer func() {
		if session != nil && !started {
			_ = session.Failed(p.tool) // one that stays counted uses up too much
		}
	}()
	s, err := openStreams(&r)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	out := &Process{tool: p.spec.Tool, request: r, streams: s, done: make(chan struct{}), told: newQueue()}
	var hears func(told)
	if r.Events != nil {
		hears = out.told.put
	}
	out.child, err = h.engine.start(p, start.Request{
		Program: r.Program, Args: r.Args, Call: r.call(), Environ: h.environ(&r), Dir: h.dir(&r), Messages: h.messages,
	}, s.files, hears)
	s.started(err == nil)
	if err != nil {
		return nil, err
	}
	started = true
	if session != nil {
		out.completed = func() { _ = session.Completed(p.tool) } // what is not counted has others wait
	}
	go out.run(ctx)
	return out, nil
}
