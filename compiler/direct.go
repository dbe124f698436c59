package compiler

import (
	"errors"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// externals are the paths of the external rules.
func externals(all []*fsDraft) []resolve.RulePath {
	var out []resolve.RulePath
	for _, d := range all {
		if path, err := resolve.Spelling(d.path.Text); d.external && err == nil {
			out = append(out, path)
		}
	}
	return out
}

// around returns the path of the nearest external rule around a rule that grants nothing and is
// not external itself, empty if there is none. Such a rule needs no approval, wherever its path
// leads, and may have the path of a rule that names its place by itself.
// See decision D180.
func (d *fsDraft) around(externals []resolve.RulePath) string {
	own, err := resolve.Spelling(d.path.Text)
	if d.external || d.caps != 0 || err != nil {
		return ""
	}
	best := ""
	for _, outer := range externals {
		rest, ok := resolve.Below(own.Lexical, outer.Lexical)
		if ok && outer.Direct == own.Direct && (rest != "" || own.Direct) && len(outer.Lexical) > len(best) {
			best = outer.Lexical
		}
	}
	return best
}

// ruleAt finds the place that a rule's path leads to. A portable policy looks nothing up that
// lies outside of the workspace by its name.
func (c finisher) ruleAt(d *fsDraft) (resolve.RulePath, bool) {
	s := d.scope.key("path")
	path, err := resolve.Spelling(d.path.Text)
	switch {
	case err == nil && path.Direct && !c.mayName(d, path):
		return path, false
	case err == nil && !path.Direct && d.external && ir.Root{Kind: ir.External, Name: path.Lexical}.Direct():
		f := s.report(diag.HomePath, d.path, "found a symlink whose path reads like one of the home directory")
		f.Hint = "give the symlink another name"
		return path, false
	case err == nil && d.external && strings.Contains(path.Lexical, "}/"):
		s.report(diag.BadPath, d.path, `found "}" at the end of a name in the path of an external rule`)
		return path, false
	case err == nil && path.Direct && c.opts.Approved == nil:
		return path, true
	case err == nil:
		path, err = c.res.Resolver.Rule(d.path.Text)
	}
	if errors.Is(err, resolve.ErrNoHome) && d.external {
		s.report(diag.BrokenLink, d.path, err.Error()).Hint = "set HOME to its absolute path"
		return path, false
	}
	if err != nil {
		s.badPath(d.path, err)
	}
	return path, err == nil
}

// mayName reports whether a rule may name a place by itself, and adds a finding if it may not:
// only an external rule may, and by an absolute path only a rule of the user's own layer.
// See decision D180.
func (c finisher) mayName(d *fsDraft, path resolve.RulePath) bool {
	s := d.scope.key("path")
	_, home := strings.CutPrefix(path.Lexical, "~")
	switch {
	case home && !d.external:
		f := s.report(diag.HomePath, d.path, "found a place of the home directory in a rule that is not external")
		f.Hint = "add external = true; a name of the workspace is written " + tomltext.String("./"+path.Lexical)
	case !home && !d.external, !home && d.scope.layer != ir.LayerUser:
		s.badPath(d.path, resolve.ErrAbsolute)
	case path.Lexical == "/" || !(ir.Root{Kind: ir.External, Name: path.Lexical}).Direct(): // or "C:", of a drive
		s.report(diag.UnfitTarget, d.path, "found the root directory").Hint = "name the directories that the tool needs"
	default:
		return true
	}
	return false
}

// targetsOf are the places to which external rules lead on this host; nil in a portable policy.
func (c finisher) targetsOf(rules []*ir.FSRule) *ir.Bindings {
	if c.opts.Approved == nil {
		return nil
	}
	out := &ir.Bindings{Workspace: c.res.Resolver.Root, External: map[string]string{}}
	for _, r := range rules {
		if r == nil || !r.External {
			continue
		}
		for _, b := range c.res.Bindings {
			if b.RulePath == r.At.Root.Name {
				out.External[b.RulePath] = b.Target
			}
		}
	}
	return out
}

// resolveBelow resolves a rule that grants nothing below the external rule of path outer. It
// counts for the place that its path leads to, and where that is out of reach, for the path
// itself. Without the rule around it there is nothing to take away.
func (c finisher) resolveBelow(d *fsDraft, outer string, targets *ir.Bindings) *ir.FSRule {
	rule, s := d.rule(), d.scope.key("path")
	path, _ := resolve.Spelling(d.path.Text)
	rest, _ := resolve.Below(path.Lexical, outer)
	rule.At = ir.Location{Root: ir.Root{Kind: ir.External, Name: outer}, Path: rest}
	if targets == nil {
		return rule
	}
	if _, bound := targets.External[outer]; !bound {
		return nil
	}
	found, err := c.res.Resolver.Rule(d.path.Text)
	if err != nil {
		s.badPath(d.path, err)
		return nil
	}
	at := targets.Locate(found.Abs)
	if at.Root.Kind == ir.System {
		return rule
	}
	rule.At = at
	for _, link := range found.Over {
		if on := targets.Locate(link); on.Root.Kind != ir.System && on.Path != "" {
			rule.Links = append(rule.Links, on)
		}
	}
	return rule
}

// badPath reports why a path cannot be the path of a rule.
func (s scope) badPath(v *source.Value, err error) {
	const beside = "name a place of your home as ~/… with external = true, or make a symlink in the workspace and " +
		"point an external rule at it"
	code := diag.BadPath
	hint := ""
	var text *resolve.TextError
	switch {
	case errors.Is(err, resolve.ErrAbsolute):
		code, hint = diag.AbsolutePath, beside
	case errors.Is(err, resolve.ErrLeaves), errors.Is(err, resolve.ErrLeavesHome):
		code, hint = diag.PathLeaves, beside
	case errors.Is(err, resolve.ErrUser), errors.Is(err, resolve.ErrVariable):
		code, hint = diag.HomePath, "a place of your home is written ~/… with external = true, a name of the "+
			"workspace "+tomltext.String("./"+v.Text)
	case errors.Is(err, resolve.ErrNoHome):
		hint = "set HOME to its absolute path"
	case errors.Is(err, resolve.ErrLoop):
		code = diag.PathLoop
	case errors.Is(err, resolve.ErrEmpty):
		code = diag.BadValue
	case errors.As(err, &text):
	}
	s.report(code, v, err.Error()).Hint = hint
}
