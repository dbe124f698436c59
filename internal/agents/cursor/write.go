package cursor

import (
	"path"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
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

// system are the directories that Cursor lets be read in any case.
var system = []string{"bin", "lib", "lib64", "sbin", "usr"}

// odd are the characters that make it uncertain which place an entry is about.
const odd = "*?[]{}$\\"

var dialect = writer.Dialect{Spell: spell, Give: give, Workspace: writer.Write}

// spell returns absolute paths alone: from where others count is not documented.
func spell(target backends.Target, l ir.Location) (string, ir.CauseID) {
	if writer.Kernel(l) {
		return "", ""
	}
	at, why := writer.Relative(target, l)
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

// give opens the workspace as a whole, for reading if not for more, and other roots as far as all in them may be
// written.
func give(p *writer.Place) (writer.Access, ir.CauseID) {
	switch {
	case p.At.Root.Kind == ir.System && within(p.At.Path):
		return writer.Read, writer.WhyWhole
	case !p.IsRoot() || p.At.Root.Kind == ir.System:
		return p.Most, whyInside
	case p.At.Root.Kind == ir.Workspace && least(p.Region) == writer.Write:
		return writer.Write, ""
	case p.At.Root.Kind == ir.Workspace:
		return writer.Read, whyInside
	case least(p.Region) == writer.Write:
		return writer.Write, ""
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
func least(root *ir.Region) writer.Access {
	out := writer.Write
	root.Walk(func(r *ir.Region) {
		if !r.Link && !r.Through {
			out = min(out, writer.Wanted(r.Caps))
			for _, e := range r.ByName {
				out = min(out, writer.Wanted(e.Rule.Caps))
			}
		}
	})
	return out
}

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	plan := writer.NewPlan(t, target, dialect)
	s := Settings{
		Type: "workspace_readonly", Boundary: "workspace", NoTmp: true,
		Network: Network{Default: "deny", Allow: []string{}, Deny: []string{}},
	}
	if plan.Top() == writer.Write {
		s.Type = "workspace_readwrite"
	} else {
		narrow(plan)
	}
	for _, at := range plan.Places {
		if at.IsRoot() && path.IsAbs(at.Path) && at.Has == writer.Write {
			s.Write = append(s.Write, at.Path)
		}
	}
	data, err := backends.JSON(s)
	return backends.Output{Data: data, Elsewhere: holder(plan).Ledger()}, err
}

// narrow takes away the roots beside the workspace: their entries count only where the workspace may be written.
func narrow(plan *writer.Plan) {
	for _, at := range plan.Places {
		if at.Has == writer.Write && path.IsAbs(at.Path) {
			at.Has, at.Less = writer.None, whyInside
			if at.Outer != nil {
				at.Has = at.Outer.Has
			}
		}
	}
}
