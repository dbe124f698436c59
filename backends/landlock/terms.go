package landlock

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// Terms are what a supervisor judges by: the policy, the places of its roots, and the tool's own program. An evidence
// log has them, so that its verdicts can be judged again. They hold no variable.
type Terms struct {
	Judged
	Workspace string `json:"workspace"`      // absolute
	Home      string `json:"home,omitempty"` // absolute
	// Temp is the temporary directory of a run, empty before there is one.
	Temp string `json:"temp,omitempty"`
	// Command is the program of the tool's own command, which a shell finds where Shell is true, and Own its file.
	Command string `json:"command,omitempty"`
	Shell   bool   `json:"shell,omitempty"`
	Own     string `json:"own,omitempty"`
}

// ErrUnjudged is the error of a specification without a policy to judge by.
var ErrUnjudged = errors.New("the specification has no policy to judge by; build it with --resolve")

// Terms returns what a supervisor of the specification judges by, before a run has a temporary directory.
func (s *Spec) Terms() (*Terms, error) {
	if s.Supervision == nil || s.Supervision.Judged == nil {
		return nil, ErrUnjudged
	}
	t := &Terms{Judged: *s.Supervision.Judged, Workspace: s.Workspace, Home: s.Home}
	if s.Command != nil {
		t.Command, t.Shell = s.Command.Program, s.Command.Shell
	}
	for _, p := range s.Programs {
		// The specification lists the file of the tool's own command without a name.
		if p.Name == "" && p.File != "" {
			t.Own = p.File
			break
		}
	}
	return t, nil
}

// Read returns the policy, and the facts that a view of it depends on.
func (t *Terms) Read() (*ir.Tool, ir.Facts, error) {
	tool, err := only(t.Policy)
	if err != nil {
		return nil, ir.Facts{}, err
	}
	base, err := baseRules(t.Base)
	if err != nil {
		return nil, ir.Facts{}, err
	}
	if t.Command != "" {
		tool.Command = &ir.Command{Program: t.Command, Shell: t.Shell}
	}
	roots := &ir.Bindings{Workspace: t.Workspace, Home: t.Home, Temp: t.Temp, External: t.External}
	facts := ir.Facts{Bindings: roots, Base: base, Located: true}
	if t.Own != "" {
		at := roots.Locate(t.Own)
		facts.Program = &at
	}
	for _, c := range t.Closed {
		facts.Closed = append(facts.Closed, ir.Closed{At: roots.Locate(c.Path), Why: c.Why})
	}
	return tool, facts, nil
}

// only returns the only tool of a document.
func only(doc json.RawMessage) (*ir.Tool, error) {
	program, err := irjson.Unmarshal(doc)
	if err != nil {
		return nil, err
	}
	if len(program.Tools) != 1 {
		return nil, ErrUnjudged
	}
	return program.Tools[0], nil
}

// baseRules are the rules of the base as a specification lists it.
func baseRules(list []Granted) ([]ir.FSRule, error) {
	out := make([]ir.FSRule, 0, len(list))
	for _, g := range list {
		r := ir.FSRule{Written: g.Path, At: ir.Sys(strings.TrimPrefix(g.Path, "/")),
			Origin: ir.Origin{Layer: ir.LayerBase, Label: "base:system"}}
		for _, name := range g.Caps {
			c, ok := ir.ParseCapability(name)
			if !ok {
				return nil, errors.New("the base has the capability " + name)
			}
			r.Caps = r.Caps.With(c)
		}
		out = append(out, r)
	}
	return out, nil
}
