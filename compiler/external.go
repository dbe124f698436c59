package compiler

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ir"
)

// CommonDir is the path by which an external rule names the common directory of a linked work tree's repository, as
// if a symlink were there. A workspace that has its repository in .git, where the name is free, needs no such rule.
// See decision D410.
const CommonDir = ".git/common"

// Binding is the target of an external rule's path on this host, and the grants that approval
// would put into effect there.
type Binding struct {
	// RulePath is the path from the workspace root, its own symlink not resolved.
	RulePath string
	// Target is the canonical absolute path that it leads to.
	Target string
	// Broken is true when nothing is at the target and no approval covers it.
	Broken bool
	// Approved is true when the rule may lead there.
	Approved bool
	// Was is the target that was approved instead, empty if none was.
	Was string
	// Grants are the grants of all tools at and below the rule path, by tool and path.
	Grants []Grant
}

// Grant is a tool's access by an external rule.
type Grant struct {
	Tool     string    // the tool's name
	RulePath string    // the lexical path
	Caps     ir.CapSet // granted at the target
	// Preset is the preset whose rule this is, such as preset:rust@1, empty if it is of none, and
	// Reason the rule's.
	Preset, Reason string
}

// Covers reports whether other needs no approval once b has an approval: it lies below, by its path and
// by its target alike, so a tool that may follow b gets there anyway. To drop its rule instead
// would leave the place to b's, which may grant more.
func (b Binding) Covers(other Binding) bool {
	_, name := resolve.Below(other.RulePath, b.RulePath)
	_, place := resolve.Below(other.Target, b.Target)
	return name && place
}

// approve decides whether an external rule enters the policy. A portable policy
// keeps it as a symbol; a resolved policy needs the binding to be approved. A rule
// that is not is dropped with a warning, and its list stays declared.
func (c finisher) approve(t *ir.Tool, s scope, d *fsDraft, found resolve.RulePath) bool {
	if c.opts.Approved == nil {
		return true
	}
	b := c.binding(found)
	vouched := d.vouched && c.named(found)
	if why := c.unfit(b.Target, d.caps); why != "" {
		s.report(diag.UnfitTarget, d.path, "leads to "+b.Target+", "+why).Hint =
			"name the directories that the tool needs"
		return false
	}
	if vouched {
		return true
	}
	c.grants = append(c.grants, Grant{t.Name, found.Lexical, d.caps, d.preset, d.reason})
	switch {
	case b.Approved:
		return true
	case b.Broken:
		f := s.report(diag.BrokenLink, d.path, "nothing is at "+found.Abs)
		f.Hint = "make the symlink on this machine"
		if found.Direct {
			f.Hint = "make it before the tool starts, or leave the rule out"
		}
	case b.Was != "":
		f := s.report(diag.Retargeted, d.path, "was "+b.Was+", now "+found.Abs)
		f.Hint = "if you trust the new target: accessc approve " + shellword.Quote(found.Lexical)
	default:
		f := s.report(diag.NotApproved, d.path, found.Lexical+" → "+found.Abs)
		f.Hint = "if you trust the target: accessc approve " + shellword.Quote(found.Lexical)
	}
	return false
}

func (c finisher) unfit(target string, caps ir.CapSet) string {
	if c.opts.Unfit == nil {
		return ""
	}
	return c.opts.Unfit(target, caps)
}

// binding records the target of an external rule's path, once for all rules of that path.
func (c finisher) binding(found resolve.RulePath) Binding {
	for _, b := range c.res.Bindings {
		if b.RulePath == found.Lexical {
			return b
		}
	}
	b := Binding{RulePath: found.Lexical, Target: found.Abs, Broken: found.Kind == ir.Absent}
	switch {
	case c.covered(b):
		b.Approved, b.Broken = true, false
	case !b.Broken:
		b.Approved, b.Was = c.opts.Approved(b.RulePath, b.Target)
	}
	c.res.Bindings = append(c.res.Bindings, b)
	return b
}

// covered reports whether a directory on the way to a rule's path is approved as it
// leads now, and the rule stays below its target.
// See decision D180.
func (c finisher) covered(b Binding) bool {
	for dir := path.Dir(b.RulePath); dir != "." && dir != "/"; dir = path.Dir(dir) {
		outer, err := c.res.Resolver.Rule(dir)
		if err != nil || outer.Inside {
			return false
		}
		ok, _ := c.opts.Approved(dir, outer.Abs)
		if ok && (Binding{RulePath: dir, Target: outer.Abs}).Covers(b) {
			return true
		}
	}
	return false
}

// finishBindings lists for each binding the grants that it opens: the rules of its own path and
// those below it. Of two rules of a tool for the same path the later rule wins.
func (c *compilation) finishBindings() {
	slices.SortFunc(c.res.Bindings, func(a, b Binding) int { return strings.Compare(a.RulePath, b.RulePath) })
	last := map[[2]string]Grant{}
	for _, g := range c.grants {
		last[[2]string{g.Tool, g.RulePath}] = g
	}
	for i := range c.res.Bindings {
		b := &c.res.Bindings[i]
		for _, g := range last {
			if _, ok := resolve.Below(g.RulePath, b.RulePath); ok {
				b.Grants = append(b.Grants, g)
			}
		}
		slices.SortFunc(b.Grants, func(x, y Grant) int {
			return cmp.Or(strings.Compare(x.Tool, y.Tool), strings.Compare(x.RulePath, y.RulePath))
		})
	}
}
