// Package cursor compiles a policy into a sandbox.json of Cursor, as of version 3.23
// (cursor.com/docs/reference/sandbox).
//
// The invariant is that of package agents. A sandbox.json closes nothing inside of a directory that it opens, so a workspace with
// one exception may be read alone, and all of it can be read. The file is about the commands that Cursor's agent runs. Not enforced by
// these means: reading in the workspace, variables, programs, arguments, and limits. Cursor does not run where this project is tested, so
// its documentation is all that the ledger rests on.
package cursor

import (
	"path"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/agents"
	"github.com/accessc/accessc/ir"
)

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "cursor" }

// File implements backends.Backend.
func (Backend) File() string { return "cursor.json" }

// Platform implements backends.Backend: Cursor runs on several systems.
func (Backend) Platform() ir.Platform { return 0 }

// Settings is a sandbox.json, with the members that this package writes.
type Settings struct {
	Type     string   `json:"type"`                               // whether the workspace may be written
	Boundary string   `json:"readBoundary"`                       // "workspace": with the system's own directories
	Write    []string `json:"additionalReadwritePaths,omitempty"` // absolute
	NoTmp    bool     `json:"disableTmpWrite"`                    // always
	NoShared bool     `json:"enableSharedBuildCache"`             // never
	Network  Network  `json:"networkPolicy"`                      // closed
}

// Network has no host.
type Network struct {
	Default string   `json:"default"` // "deny"
	Allow   []string `json:"allow"`   // none: entries have no ports
	Deny    []string `json:"deny"`    // none
}

// system are the directories that Cursor lets be read in any case.
var system = []string{"bin", "lib", "lib64", "sbin", "usr"}

// odd are the characters that make it uncertain which place an entry is about.
const odd = "*?[]{}$\\"

var dialect = agents.Dialect{Spell: spell, Give: give, Workspace: agents.Write}

// spell returns absolute paths alone: from where others count is not documented.
func spell(target backends.Target, l ir.Location) (string, ir.CauseID) {
	if agents.Kernel(l) {
		return "", ""
	}
	at, why := agents.Relative(target, l)
	switch {
	case l.Root.Kind == ir.Workspace:
		return "./" + l.Path, ""
	case at == "":
		return "", why
	case !path.IsAbs(at) || strings.ContainsAny(at, odd) || strings.TrimSpace(at) != at:
		return "", whyAbsolute
	}
	return at, ""
}

// give opens the workspace as a whole, for reading if not for more, and other roots as far as all in them may be written.
func give(p *agents.Place) (agents.Access, ir.CauseID) {
	switch {
	case p.At.Root.Kind == ir.System && within(p.At.Path):
		return agents.Read, agents.WhyWhole
	case !p.IsRoot() || p.At.Root.Kind == ir.System:
		return p.Most, whyInside
	case p.At.Root.Kind == ir.Workspace && least(p.Region) == agents.Write:
		return agents.Write, ""
	case p.At.Root.Kind == ir.Workspace:
		return agents.Read, whyInside
	case least(p.Region) == agents.Write:
		return agents.Write, ""
	}
	return p.Most, whyInside
}

// within reports whether a path is in one of the system's own directories.
func within(rel string) bool {
	for _, dir := range system {
		if ir.Within(rel, dir) {
			return true
		}
	}
	return false
}

// least is the least access that the policy gives anything in a root.
func least(root *ir.Region) agents.Access {
	out := agents.Write
	root.Walk(func(r *ir.Region) {
		if !r.Link && !r.Through {
			out = min(out, agents.Wanted(r.Caps))
			for _, e := range r.ByName {
				out = min(out, agents.Wanted(e.Rule.Caps))
			}
		}
	})
	return out
}

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	plan := agents.NewPlan(t, target, dialect)
	s := Settings{
		Type: "workspace_readonly", Boundary: "workspace", NoTmp: true, Network: Network{Default: "deny", Allow: []string{}, Deny: []string{}},
	}
	if plan.Top() == agents.Write {
		s.Type = "workspace_readwrite"
	} else {
		narrow(plan)
	}
	for _, at := range plan.Places {
		if at.IsRoot() && path.IsAbs(at.Path) && at.Has == agents.Write {
			s.Write = append(s.Write, at.Path)
		}
	}
	data, err := backends.JSON(s)
	return backends.Output{Data: data, Elsewhere: holder(plan).Ledger()}, err
}

// narrow takes away the roots beside the workspace: their entries count only where the workspace may be written.
func narrow(plan *agents.Plan) {
	for _, at := range plan.Places {
		if at.Has == agents.Write && path.IsAbs(at.Path) {
			at.Has, at.Less = agents.None, whyInside
			if at.Outer != nil {
				at.Has = at.Outer.Has
			}
		}
	}
}
