// Package vscode compiles a policy into settings of VS Code for its agents, as of October 2026
// (code.visualstudio.com/docs/agents/run: approvals, agent-sandboxing; src/vs/platform/agentHost of its repository).
//
// The invariant is that of package agents, for all that happens unasked. VS Code refuses nothing: it asks a person, and reads the whole
// workspace without. So edits are approved place by place, nothing else is, and the sandbox for commands is on in case that a person
// permits one. See decision D283. VS Code does not run where this project is tested, so its documentation and its published
// source are all that the ledger rests on.
package vscode

import (
	"bytes"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/agents"
	"github.com/accessc/accessc/ir"
)

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "vscode" }

// File implements backends.Backend.
func (Backend) File() string { return "vscode.json" }

// Platform implements backends.Backend: VS Code runs on several systems.
func (Backend) Platform() ir.Platform { return 0 }

// Settings are those of a settings.json that this package writes.
type Settings struct {
	Level     string   `json:"chat.permissions.default"`                           // "default": a person is asked
	Global    bool     `json:"chat.tools.global.autoApprove"`                      // never
	Terminal  bool     `json:"chat.tools.terminal.enableAutoApprove"`              // no command is approved
	NoDefault bool     `json:"chat.tools.terminal.ignoreDefaultAutoApproveRules"`  // always
	Commands  struct{} `json:"chat.tools.terminal.autoApprove"`                    // none
	Scripts   bool     `json:"chat.tools.terminal.autoApproveWorkspaceNpmScripts"` // never
	Writes    string   `json:"chat.tools.terminal.blockDetectedFileWrites"`        // "all"
	Edits     Patterns `json:"chat.tools.edits.autoApprove"`                       // the places that may be written
	URLs      struct{} `json:"chat.tools.urls.autoApprove"`                        // none
	Filter    bool     `json:"chat.agent.networkFilter"`                           // always
	Allowed   []string `json:"chat.agent.allowedNetworkDomains"`                   // none: entries have no ports
	Denied    []string `json:"chat.agent.deniedNetworkDomains"`                    // none
	Sandbox   string   `json:"chat.agent.sandbox.enabled"`                         // "on"
	Unasked   bool     `json:"chat.agent.sandbox.allowAutoApprove"`                // never
	Outside   bool     `json:"chat.agent.sandbox.allowUnsandboxedCommands"`        // never
	Network   bool     `json:"chat.agent.sandbox.network.allowNetwork"`            // never
	Local     bool     `json:"chat.agent.sandbox.network.allowLocalNetwork"`       // never
	Tools     bool     `json:"chat.agent.sandbox.fileSystem.allowDevToolAccess"`   // never: it has tokens
	Paths     Paths    `json:"chat.agent.sandbox.fileSystem.userConfiguredPaths"`  // of the sandbox
	Git       bool     `json:"chat.agent.sandbox.credentials.authenticategit"`     // never
	GitHub    bool     `json:"chat.agent.sandbox.credentials.authenticategh"`      // never
}

// Paths are those of the sandbox, absolute, beside the workspace that may be written.
type Paths struct {
	Write  []string `json:"readwritePaths"` // opened
	Read   []string `json:"readonlyPaths"`  // for reading
	Closed []string `json:"deniedPaths"`    // in others
}

// Pattern is a pattern of absolute paths, and whether edits of such files are approved.
type Pattern struct {
	Glob     string // with "**" for directories
	Approved bool   // unasked
}

// Patterns are an object whose order counts: of those that match the last one decides.
type Patterns []Pattern

// MarshalJSON implements json.Marshaler.
func (p Patterns) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, one := range p {
		b.WriteByte("{,"[min(i, 1)])
		key, err := backends.Compact(one.Glob)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteString(map[bool]string{true: ":true", false: ":false"}[one.Approved])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// odd are the characters of patterns.
const odd = "*?[]{}!\\"

// anchor is the path of the workspace for patterns, empty where it is not known or would be one itself.
func anchor(target backends.Target) string {
	if target.Form != backends.Resolved || target.Facts.Bindings == nil || strings.ContainsAny(target.Facts.Bindings.Workspace, odd) {
		return ""
	}
	return target.Facts.Bindings.Workspace
}

// spell returns paths from the workspace alone: outside of it VS Code asks about each file.
func spell(target backends.Target, l ir.Location) (string, ir.CauseID) {
	path := l.Path
	switch b := target.Facts.Bindings; {
	case target.Form == backends.Resolved && b != nil:
		abs, ok := b.Path(l)
		if !ok || !ir.Within(abs, b.Workspace) {
			return "", whyOutside
		}
		path = strings.Trim(strings.TrimPrefix(abs, b.Workspace), "/")
	case l.Root.Kind != ir.Workspace:
		return "", whyOutside
	}
	if strings.ContainsAny(path, odd) {
		return "", agents.WhyPattern
	}
	return "./" + path, ""
}

// give: everything in the workspace is read. Without the path of the workspace no pattern opens a place again in one that it closes.
func give(anchored bool) func(*agents.Place) (agents.Access, ir.CauseID) {
	plainly := agents.Plainly(odd)
	return func(p *agents.Place) (agents.Access, ir.CauseID) {
		is, why := plainly(p)
		if !anchored && is == agents.Write && closed(p) {
			is, why = agents.Read, whyAnywhere
		}
		return max(is, agents.Read), why
	}
}

// closed reports whether a place lies in one of the workspace that may not be written.
func closed(p *agents.Place) bool {
	for o := p.Outer; o != nil; o = o.Outer {
		if o.Path != "" && o.Has < agents.Write {
			return true
		}
	}
	return false
}

// names spells the names of a rule as patterns below the workspace. No pattern opens a name again.
func names(n *agents.Named) ([]string, bool) {
	globs, wider := agents.Globs(n.Rule.Names, odd)
	for i, g := range globs {
		globs[i] = strings.TrimSuffix(n.Base.Path, "/") + "/**/" + g
	}
	return globs, wider
}

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	dir := anchor(target)
	plan := agents.NewPlan(t, target, agents.Dialect{
		Spell: spell, Give: give(dir != ""), Workspace: agents.Read, Names: names, Least: agents.Read,
	})
	data, err := backends.JSON(Settings{
		Level: "default", NoDefault: true, Writes: "all", Edits: edits(plan, dir), Filter: true, Allowed: []string{}, Denied: []string{},
		Sandbox: "on", Paths: paths(plan),
	})
	return backends.Output{Data: data, Elsewhere: holder(plan, dir != "").Ledger()}, err
}

// edits are the patterns, outer places first.
func edits(plan *agents.Plan, dir string) Patterns {
	out := Patterns{{"**/*", dir == "" && plan.Top() == agents.Write}}
	for _, at := range plan.Places {
		if at.Path == "" || at.Link || at.Through {
			continue
		}
		approved, begin := at.Has == agents.Write, dir
		if begin == "" {
			begin = "**"
		}
		if outer := at.Outer != nil && at.Outer.Path != "" && at.Outer.Has == agents.Write; approved == outer {
			continue
		}
		if name := strings.TrimSuffix(begin+at.Path[1:], "/"); name != "**" {
			out = append(out, Pattern{name, approved}, Pattern{name + "/**", approved})
		}
	}
	for _, n := range plan.Named {
		for _, glob := range n.Patterns {
			name := strings.TrimPrefix(glob, "./")
			switch {
			case dir != "":
				name = dir + "/" + name
			case !strings.HasPrefix(name, "**/"):
				name = "**/" + name
			}
			out = out.without(name).without(name + "/**")
			out = append(out, Pattern{name, false}, Pattern{name + "/**", false})
		}
	}
	return out
}

// without returns patterns without an earlier entry of the same text: the later one decides.
func (p Patterns) without(glob string) Patterns {
	return slices.DeleteFunc(p, func(o Pattern) bool { return o.Glob == glob })
}

// paths are the entries of the sandbox, for a host: the places beside the workspace, and the narrower ones in it.
func paths(plan *agents.Plan) Paths {
	out := Paths{Write: []string{}, Read: []string{}, Closed: []string{}}
	for _, at := range plan.Places {
		abs, ok := "", false
		if b := plan.Target.Facts.Bindings; plan.Target.Form == backends.Resolved && b != nil && at.At.Root.Kind != ir.System {
			abs, ok = b.Path(at.At)
		}
		outer := agents.None
		if at.Outer != nil {
			outer = at.Outer.Wants
		}
		var to *[]string
		switch {
		case !ok || at.Link || at.Through || strings.ContainsAny(abs, odd) || at.Wants == outer && at.Outer != nil:
			continue
		case at.Wants == agents.Write:
			to = &out.Write
		case at.Wants == agents.Read:
			to = &out.Read
		default:
			to = &out.Closed
		}
		if !slices.Contains(*to, abs) {
			*to = append(*to, abs)
		}
	}
	return out
}
