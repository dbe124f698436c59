package hook

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// MaxEvent is the longest event that is read, in bytes. An edit has the whole text of a file.
const MaxEvent = 16 << 20

// Stage is the moment of an event.
type Stage uint8

// The stages.
const (
	// Before is the question before a tool is used; its answer may change the call.
	Before Stage = iota + 1
	// Permission is the question that a person would be asked otherwise.
	Permission
	// After is the report of a tool that was used.
	After
)

// Event is an agent's question about the use of a tool, or its report of one.
type Event struct {
	// Name is the agent's word for the event.
	Name  string
	Stage Stage
	// Session and ID are the agent's names of the conversation and of the call; ID may be empty.
	Session, ID string
	// Agent and AgentID are the type of the subagent that makes the call and its name, empty for none.
	Agent, AgentID string
	// Dir is the absolute directory in which the call is made, Project the one that the agent was
	// started in. The agent may change Dir, and so does not choose the policy by it.
	// See decision D146.
	Dir, Project string
	// Chosen says that Project is Dir for want of a better one, and so may be the agent's choice.
	Chosen bool
	// Call is the use of the tool.
	Call Call
	// Failed says of a report that the tool has ended with an error.
	Failed bool
	// Asks says whether an answer can have the agent ask a person, Rewrites whether it can change
	// the call.
	Asks, Rewrites bool
	// AskedLater says that another event about the same call follows, whose answer can have a person asked.
	AskedLater bool
}

// Event reads an event of the agent.
func (a *Agent) Event(r io.Reader) (*Event, error) {
	v, err := read(r)
	if err != nil {
		return nil, err
	}
	e, err := a.Read(a, v)
	if err != nil {
		return nil, err
	}
	e.Failed = e.Stage == After && (e.Failed || failed(v))
	if e.Project == "" {
		e.Project = e.Dir
	}
	switch {
	case !filepath.IsAbs(e.Dir) || !filepath.IsAbs(e.Project):
		return nil, errors.New("the event has no directory with an absolute path")
	case e.Session == "":
		return nil, errors.New("the event names no session")
	}
	return e, nil
}

// failed reports whether the report of a used tool has a result with an error, in any of the forms that agents write
// it.
func failed(v strictjson.Value) bool {
	said := func(v strictjson.Value) bool {
		return v.Exists() && v.Type != strictjson.Null && v.Type != strictjson.False && v.String() != ""
	}
	if said(v.Get("error")) {
		return true
	}
	for _, name := range []string{"tool_response", "toolResult", "tool_result", "tool_output", "result"} {
		out := v.Get(name)
		if inner, err := strictjson.Parse(out.Str); err == nil {
			out = inner
		}
		for _, code := range [][]string{{"exit_code"}, {"exitCode"}, {"metadata", "exit_code"}, {"metadata", "exit"}} {
			c := out.Get(code...)
			if n, _ := strconv.ParseFloat(c.Raw, 64); c.Type == strictjson.Number && n != 0 {
				return true
			}
		}
		kind := out.Get("resultType")
		if kind.Exists() && kind.Str != "success" {
			return true
		}
		for _, word := range []string{"interrupted", "isError", "is_error", "error"} {
			if said(out.Get(word)) {
				return true
			}
		}
	}
	return false
}

// read reads an event: one JSON object that no parser could read otherwise, in all of its depth.
// See decision D150.
func read(r io.Reader) (strictjson.Value, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxEvent+1))
	switch {
	case err != nil:
		return strictjson.Value{}, fmt.Errorf("the event cannot be read: %w", err)
	case len(text) > MaxEvent:
		return strictjson.Value{}, fmt.Errorf("the event is longer than %d bytes", MaxEvent)
	}
	return object(text, "event")
}

// object reads a text that is one JSON object.
func object(text []byte, what string) (strictjson.Value, error) {
	fail := func(why string) (strictjson.Value, error) {
		return strictjson.Value{}, errors.New("the " + what + " " + why)
	}
	root, err := strictjson.Parse(string(text))
	switch {
	case !utf8.Valid(text):
		return fail("is not UTF-8")
	case errors.Is(err, strictjson.ErrDeep):
		return fail("has more lists and objects in each other than any of its length has")
	case err != nil:
		return fail("is not JSON")
	case !root.IsObject():
		return fail("is no JSON object")
	}
	if err := jsonrpc.Strings(root, "", func(string, string) {}); err != nil {
		return fail("means more than one thing: " + err.Error())
	}
	return root, nil
}

// Form is where the agents that follow Claude Code's form have the parts of an event.
type Form struct {
	Event, Session, Dir, ID, Tool, Input string
	// Agent and AgentID are empty for an agent that names no subagents.
	Agent, AgentID string
	Stages         map[string]Stage
}

// With is the form of an agent that names its events otherwise.
func (f Form) With(stages map[string]Stage) Form {
	f.Stages = stages
	return f
}

// Read reads an event of the form, without its call. It returns the other members, too.
func (f Form) Read(v strictjson.Value) (*Event, map[string]strictjson.Value, error) {
	names := []string{f.Event, f.Session, f.Dir, f.ID, f.Tool, f.Input}
	if f.Agent != "" {
		names = append(names, f.Agent, f.AgentID)
	}
	m, err := jsonrpc.Members(v, names...)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{f.Agent, f.AgentID} {
		if t := m[name].Type; name != "" && t != strictjson.String && t != strictjson.Null {
			return nil, nil, fmt.Errorf("the event has a %s that is no string", name)
		}
	}
	e := &Event{Name: m[f.Event].Str, Session: m[f.Session].Str, ID: m[f.ID].Str, Dir: m[f.Dir].Str}
	if f.Agent != "" {
		e.Agent, e.AgentID = m[f.Agent].Str, m[f.AgentID].Str
	}
	if e.Stage = f.Stages[e.Name]; e.Stage == 0 {
		return nil, nil, fmt.Errorf("%q is no event that asks about a tool", e.Name)
	}
	return e, m, nil
}

// Call reads an event of the form with the call of a tool.
func (f Form) Call(a *Agent, v strictjson.Value) (*Event, map[string]strictjson.Value, error) {
	e, m, err := f.Read(v)
	if err != nil {
		return nil, nil, err
	}
	if m[f.Tool].Type != strictjson.String || m[f.Tool].Str == "" {
		return nil, nil, fmt.Errorf("the event has no %s", f.Tool)
	}
	e.Call, err = a.Call(m[f.Tool].Str, m[f.Input])
	return e, m, err
}
