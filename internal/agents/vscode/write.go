package vscode

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
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

// odd are the characters of patterns.
const odd = "*?[]{}!\\"

// anchor is the path of the workspace for patterns, empty where it is not known or would be one itself.
func anchor(target backends.Target) string {
	if target.Form != backends.Resolved || target.Facts.Bindings == nil ||
		strings.ContainsAny(target.Facts.Bindings.Workspace, odd) {
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
		return "", writer.WhyPattern
	}
	return "./" + path, ""
}

// give: everything in the workspace is read. Without the path of the workspace no pattern opens a place again in one
// that it closes.
func give(anchored bool) func(*writer.Place) (writer.Access, ir.CauseID) {
	plainly := writer.Plainly(odd)
	return func(p *writer.Place) (writer.Access, ir.CauseID) {
		is, why := plainly(p)
		if !anchored && is == writer.Write && closed(p) {
			is, why = writer.Read, whyAnywhere
		}
		return max(is, writer.Read), why
	}
}

// closed reports whether a place lies in one of the workspace that may not be written.
func closed(p *writer.Place) bool {
	for o := p.Outer; o != nil; o = o.Outer {
		if o.Path != "" && o.Has < writer.Write {
			return true
		}
	}
	return false
}

// names spells the names of a rule as patterns below the workspace. No pattern opens a name again.
func names(n *writer.Named) ([]string, bool) {
	globs, wider := writer.Globs(n.Rule.Names, odd)
	for i, g := range globs {
		globs[i] = strings.TrimSuffix(n.Base.Path, "/") + "/**/" + g
	}
	return globs, wider
}

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	dir := anchor(target)
	plan := writer.NewPlan(t, target, writer.Dialect{
		Spell: spell, Give: give(dir != ""), Workspace: writer.Read, Names: names, Least: writer.Read,
	})
	data, err := backends.JSON(Settings{
		Level: "default", NoDefault: true, Writes: "all", Edits: edits(plan, dir), Filter: true, Allowed: []string{},
		Denied:  []string{},
		Sandbox: "on", Paths: paths(plan),
	})
	return backends.Output{Data: data, Elsewhere: holder(plan, dir != "").Ledger()}, err
}

// edits are the patterns, outer places first.
func edits(plan *writer.Plan, dir string) Patterns {
	out := Patterns{{"**/*", dir == "" && plan.Top() == writer.Write}}
	for _, at := range plan.Places {
		if at.Path == "" || at.Link || at.Through {
			continue
		}
		approved, begin := at.Has == writer.Write, dir
		if begin == "" {
			begin = "**"
		}
		if outer := at.Outer != nil && at.Outer.Path != "" && at.Outer.Has == writer.Write; approved == outer {
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
func paths(plan *writer.Plan) Paths {
	out := Paths{Write: []string{}, Read: []string{}, Closed: []string{}}
	for _, at := range plan.Places {
		abs, ok := "", false
		if b := plan.Target.Facts.Bindings; plan.Target.Form == backends.Resolved && b != nil &&
			at.At.Root.Kind != ir.System {
			abs, ok = b.Path(at.At)
		}
		outer := writer.None
		if at.Outer != nil {
			outer = at.Outer.Wants
		}
		var to *[]string
		switch {
		case !ok || at.Link || at.Through || strings.ContainsAny(abs, odd) || at.Wants == outer && at.Outer != nil:
			continue
		case at.Wants == writer.Write:
			to = &out.Write
		case at.Wants == writer.Read:
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
