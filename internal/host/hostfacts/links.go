package hostfacts

import (
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// linkedRules objects to rules that a symlink of the workspace leads to another place: a tool that
// may make the symlink chooses the place that they grant or close.
// See decision D159.
func (r *Result) linkedRules(t *ir.Tool) (out diag.List) {
	rules := slices.Concat(t.FS, t.May)
	for i := range rules {
		rule := &rules[i]
		if len(rule.Links) == 0 || rule.Links[0].Root.Kind != ir.Workspace {
			continue
		}
		over := "leads over the symlink " + rule.Links[0].Short() + " to " + rule.At.Short()
		d := aboutPath(diag.LinkedRule, rule, over)
		if why := r.tooWide(t, rule); why != "" {
			d = aboutPath(diag.LinkedWide, rule, over+", which "+why)
		}
		d.Hint = "write path = " + tomltext.String(rule.At.Spelled()) + " if that is meant"
		out.Add(d)
	}
	return out
}

// tooWide is the reason why a rule has to name the place that its symlinks lead to, if it has to. A
// symlink that is itself protected is the user's own, and may lead to a protected path.
func (r *Result) tooWide(t *ir.Tool, rule *ir.FSRule) string {
	if rule.Caps == 0 {
		return ""
	}
	if slices.ContainsFunc(rule.Links, func(link ir.Location) bool { return link.Under(rule.At) }) {
		return "is around the symlink"
	}
	if r := overridden(t, rule); r != nil {
		return "the rule " + r.Subject() + " grants less on, " + r.Origin.Pos.String()
	}
	if rule.Caps&ir.Write == 0 || !t.Protects && surrounded(t, rule) {
		return ""
	}
	protected := slices.Concat(ir.ProtectedPaths(), t.Protected, r.ownProtected())
	own := func(link ir.Location) bool {
		return slices.ContainsFunc(protected, func(p ir.ProtectedPath) bool { return p.At().Under(link) })
	}
	i := slices.IndexFunc(protected, func(p ir.ProtectedPath) bool { return p.Covers(rule.At) })
	if i < 0 || !slices.ContainsFunc(rule.Links, func(link ir.Location) bool { return !own(link) }) {
		return ""
	}
	return "is protected: " + protected[i].Why
}

// surrounded reports whether a rule that is read where it stands grants the writing that a linked rule does. To a
// policy that protects nothing, a rule on a directory around a protected path is enough; a rule on only the symlink is
// not.
func surrounded(t *ir.Tool, rule *ir.FSRule) bool {
	return slices.ContainsFunc(t.FS, func(r ir.FSRule) bool {
		return len(r.Links) == 0 && !r.ByName() && rule.At.Under(r.At) && r.Caps.Contains(rule.Caps&ir.Write)
	})
}

// overridden is a rule around the target of a linked rule that grants less: the tool itself makes the
// symlink where it may create, and would widen its own policy. A rule on the whole workspace that lets it
// create nothing does not count, unless another lets it make the symlink.
func overridden(t *ir.Tool, rule *ir.FSRule) *ir.FSRule {
	makes := slices.ContainsFunc(rule.Links, func(link ir.Location) bool {
		return slices.ContainsFunc(t.FS, func(r ir.FSRule) bool {
			return len(r.Links) == 0 && r.Caps.Has(ir.Create) && link.Under(r.At)
		})
	})
	for i := range t.FS {
		r := &t.FS[i]
		_, around := r.Matches(rule.At)
		if len(r.Links) == 0 && around && !r.Caps.Contains(rule.Caps) && (r.At.Path != "" || makes) {
			return r
		}
	}
	return nil
}

// aboutPath is a finding about the path of a rule.
func aboutPath(code diag.Code, rule *ir.FSRule, label string) diag.Diagnostic {
	at := rule.Origin.Pos
	for _, l := range rule.Leaves {
		if l.Key == "path" {
			at = l.At
		}
	}
	d := diag.New(code, at, len(rule.Written)+len(`""`))
	d.Path, d.Label = rule.Origin.Path+".path", label
	return d
}
