package codex

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "codex" }

// File implements backends.Backend.
func (Backend) File() string { return "codex.toml" }

// Platform implements backends.Backend: Codex runs on several systems.
func (Backend) Platform() ir.Platform { return 0 }

// profile is the name of the profile.
const profile = "accessc"

// mode is the word for a kind of access.
func mode(a writer.Access) string {
	switch a {
	case writer.Read:
		return "read"
	case writer.Write:
		return "write"
	case writer.None:
	}
	return "deny"
}

// wildcards are the characters of a pattern.
const wildcards = "*?[]{}"

// spell leaves out the directories that the kernel fills: Codex has its own of them.
func spell(target backends.Target, l ir.Location) (string, ir.CauseID) {
	if writer.Kernel(l) {
		return "", ""
	}
	if l.Root.Kind == ir.System && ir.Within(l.Path, "etc") {
		return "", whyEtc
	}
	path, why := writer.Relative(target, l)
	if strings.ContainsAny(path, wildcards) {
		return "", writer.WhyPattern
	}
	return path, why
}

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	plan := writer.NewPlan(t, target, writer.Dialect{
		Spell: spell, Give: writer.Plainly(wildcards), Names: writer.GlobsBelow(wildcards), Closes: true,
	})
	gather(plan)
	var b strings.Builder
	fmt.Fprintf(&b, "default_permissions = %q\n\n[permissions.%s.filesystem]\n", profile, profile)
	elsewhere, inside := entries(plan)
	elsewhere.write(&b)
	if len(inside) > 0 {
		fmt.Fprintf(&b, "\n[permissions.%s.filesystem.\":workspace_roots\"]\n", profile)
		inside.write(&b)
	}
	fmt.Fprintf(&b, "\n[permissions.%s.network]\nenabled = false\n\n%s", profile, environment(t))
	return backends.Output{Data: []byte(b.String()), Elsewhere: holder(plan).Ledger()}, nil
}

// gather closes a directory in which several places are narrower than it, where no rule is written for it: Codex does
// not start with two entries in a directory that is not there.
func gather(plan *writer.Plan) {
	for _, dir := range plan.Places {
		n, least := 0, dir.Has
		for _, p := range plan.Places {
			if p.Outer == dir && p.Has < dir.Has {
				n, least = n+1, min(least, p.Has)
			}
		}
		if n < 2 || dir.Named || dir.IsRoot() || dir.Path == "" {
			continue
		}
		dir.Has, dir.Less = least, whySiblings
		for _, p := range plan.Places {
			if !p.In(dir) {
				continue
			}
			p.Least, p.Most = least, least
			if p.Has > least {
				p.Has, p.Less = least, whySiblings
			}
		}
	}
}

// table is a table of paths. A path of several places has the least access of them.
type table []entry

type entry struct {
	path string
	is   writer.Access
}

func (t *table) add(path string, is writer.Access) {
	if i := slices.IndexFunc(*t, func(e entry) bool { return e.path == path }); i >= 0 {
		(*t)[i].is = min((*t)[i].is, is)
		return
	}
	*t = append(*t, entry{path, is})
}

func (t table) write(b *strings.Builder) {
	for _, e := range t {
		fmt.Fprintf(b, "%s = %q\n", tomltext.String(e.path), mode(e.is))
	}
}

// entries are the places of a plan, those from the workspace apart.
func entries(plan *writer.Plan) (elsewhere, inside table) {
	if plan.Tool.Base == ir.BaseSystem {
		// The system's programs and libraries, with the symlinks that lead there, and on Linux all of
		// /etc. Codex does not start with single files in a closed directory.
		elsewhere = table{{":minimal", writer.Read}, {"/etc", writer.None}}
	}
	for _, at := range plan.Places {
		switch {
		case at.Path == "" || at.Link || at.Through || at.Has == at.Least && at.Has == at.Most:
		case at.Path == "." || strings.HasPrefix(at.Path, "./"):
			inside.add(strings.TrimPrefix(at.Path, "./"), at.Has)
		default:
			elsewhere.add(at.Path, at.Has)
		}
	}
	for _, n := range plan.Named {
		for _, pattern := range n.Patterns {
			if below, within := strings.CutPrefix(pattern, "./"); within {
				inside.add(below, writer.None)
			} else {
				elsewhere.add(pattern, writer.None)
			}
		}
	}
	return elsewhere, inside
}

// environment lists the variables that commands get, and of those the ones that they do not.
func environment(t *ir.Tool) string {
	view, lists := ir.NewEnvView(t.Env, t.Home, ir.Linux), map[bool][]string{}
	for i := range t.Env {
		r := &t.Env[i]
		name, passes := tomltext.String(r.Subject()), view.Decide(ir.Forward{Name: r.Name}).Allowed()
		if r.Name != "" && r.Read == passes && (r.Read || granted(t, r)) && !slices.Contains(lists[r.Read], name) {
			lists[r.Read] = append(lists[r.Read], name)
		}
	}
	if len(lists[true]) == 0 { // an empty include_only filters nothing
		return "[shell_environment_policy]\ninherit = \"none\"\n"
	}
	return fmt.Sprintf("[shell_environment_policy]\ninherit = \"all\"\nexclude = [%s]\ninclude_only = [%s]\n",
		strings.Join(lists[false], ", "), strings.Join(lists[true], ", "))
}

// granted reports whether a rule that withholds is about variables of one that forwards several.
func granted(t *ir.Tool, r *ir.EnvRule) bool {
	return slices.ContainsFunc(t.Env, func(o ir.EnvRule) bool {
		return o.Read && o.Prefix &&
			strings.HasPrefix(r.Name, o.Name)
	})
}

// excluded reports whether a rule that withholds several variables has one of a rule that forwards.
func excluded(t *ir.Tool, r *ir.EnvRule) bool {
	return slices.ContainsFunc(t.Env, func(o ir.EnvRule) bool {
		return !o.Read && o.Name != "" && granted(t, &o) &&
			strings.HasPrefix(strings.ToUpper(r.Name), strings.ToUpper(o.Name))
	})
}
