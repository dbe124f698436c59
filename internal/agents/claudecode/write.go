package claudecode

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/srt"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "claude-code" }

// File implements backends.Backend.
func (Backend) File() string { return "claude-code.json" }

// Platform implements backends.Backend: Claude Code runs on several systems.
func (Backend) Platform() ir.Platform { return 0 }

// odd are the characters of patterns and of rules.
const odd = "*?[]{}!\\()"

// dialect is that of the lists of the sandbox; besides, a rule for tools that denies wins over all that allow, at any
// depth.
func dialect() writer.Dialect {
	lists := srt.PlainLists(odd)
	give := lists.Give
	lists.Give = func(p *writer.Place) (writer.Access, ir.CauseID) {
		is, why := give(p)
		for o := p.Outer; o != nil; o = o.Outer {
			if o.Path != "" && o.Has < o.Most && o.Has < is {
				is, why = o.Has, whyDenied
			}
		}
		return is, why
	}
	return lists
}

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	plan := writer.NewPlan(t, target, dialect())
	hosts := writer.NewHosts(t.Net)
	data, err := backends.JSON(Settings{
		Permissions: Permissions{Mode: "dontAsk", Allow: append(allowed(plan), commands(t)...), Deny: denied(plan)},
		Sandbox: Sandbox{
			Enabled: true, FailIfUnavailable: true, AutoAllow: t.Commands == nil, Excluded: []string{},
			Network: Network{hosts.Allowed, hosts.Denied}, Filesystem: srt.ListsOf(plan),
		},
	})
	return backends.Output{Data: data, Elsewhere: holder(plan, hosts).Ledger()}, err
}

// specifier spells a path for a rule: from the project, from "~", or from the root directory.
func specifier(path string) string {
	switch {
	case path == ".":
		return "/**"
	case path == "~":
		return "~/**" // a lone "~" is a name
	case strings.HasPrefix(path, "./"):
		return path[1:]
	case strings.HasPrefix(path, "/"):
		return "/" + path
	}
	return path
}

// allowed are the rules for the places that may be written. Reading is open in the project alone.
func allowed(plan *writer.Plan) []string {
	out := []string{}
	for _, at := range plan.Places {
		if at.Path == "" || at.Link || at.Through || at.Has < writer.Write || at.Least == writer.Write {
			continue
		}
		spec := strings.TrimSuffix(specifier(at.Path), "/**")
		if spec != "" {
			out = append(out, "Edit("+spec+")")
		}
		out = append(out, "Edit("+spec+"/**)")
	}
	return out
}

// denied are the rules for the places that get less than the one around them.
func denied(plan *writer.Plan) []string {
	out := []string{}
	for _, at := range plan.Places {
		switch {
		case at.Path == "" || at.Link || at.Through || at.Has >= at.Most:
		case at.Has == writer.None:
			out = append(out, "Read("+specifier(at.Path)+")", "Edit("+specifier(at.Path)+")")
		default:
			out = append(out, "Edit("+specifier(at.Path)+")")
		}
	}
	for _, n := range plan.Named {
		for _, pattern := range n.Patterns {
			if n.Has == writer.None {
				out = append(out, "Read("+specifier(pattern)+")")
			}
			out = append(out, "Edit("+specifier(pattern)+")")
		}
	}
	return out
}

// commands are the rules for programs, where the policy lists them.
func commands(t *ir.Tool) []string {
	var out []string
	if t.Commands == nil {
		return nil
	}
	for _, r := range t.Commands.Rules {
		for _, words := range lines(&r) {
			if rule := "Bash(" + words + ")"; !slices.Contains(out, rule) {
				out = append(out, rule)
			}
		}
	}
	return out
}

// lines are the specifiers of a program: those whose words are plain.
func lines(r *ir.CommandRule) []string {
	var out []string
	for _, l := range writer.Lines(r) {
		out = append(out, l.Words+map[bool]string{true: ":*"}[l.More])
	}
	return out
}
