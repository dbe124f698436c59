package compiler

import (
	"github.com/accessc/accessc/approvals"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// approve decides whether an external rule enters the policy. A portable policy
// keeps it as a symbol; a resolved one needs the binding to be approved. A rule
// that is not is dropped with a warning, and its list stays declared.
func (c *compilation) approve(t *ir.Tool, s scope, d *fsDraft, found resolve.RulePath) bool {
	if !c.opts.Resolve {
		return true
	}
	if found.Kind == ir.Absent {
		f := s.report(diag.BrokenLink, d.path, "nothing is at "+found.Abs)
		f.Hint = "make the symlink on this machine"
		return false
	}
	status, was := c.store.Lookup(found.Lexical, found.Abs)
	switch status {
	case approvals.Approved:
		c.bind(t.Name, found.Lexical, found.Abs)
		return true
	case approvals.Retargeted:
		f := s.report(diag.Retargeted, d.path, "was "+was+", now "+found.Abs)
		f.Hint = "approve the new target if you trust it"
	case approvals.Unknown:
		f := s.report(diag.NotApproved, d.path, found.Lexical+" → "+found.Abs)
		f.Hint = "approve the target if you trust it"
	}
	return false
}

func (c *compilation) bind(tool, lexical, target string) {
	m := c.res.external[tool]
	if m == nil {
		m = map[string]string{}
		c.res.external[tool] = m
	}
	m[lexical] = target
}
