package compiler

import (
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir"
)

// mayRule reads one rule of access.may: an fs rule on a place of the workspace.
// See RATIONALE D203.
func (s scope) mayRule(v *source.Value) (*fsDraft, bool) {
	if v.Kind == source.TableKind {
		other := []string{"host", "scheme", "port", "listen", "name", "program", "args"}
		for i := range v.Table.Entries {
			if e := &v.Table.Entries[i]; slices.Contains(other, e.Key) {
				s.notMay(e.Value, "found "+e.Key+": only operations on files can be granted during a run",
					"write a rule with a path, or leave this to access.net, access.env and access.commands")
				return nil, false
			}
		}
		if e := v.Table.Get("external"); e != nil {
			s.notMay(e, "found external: only places of the workspace can be granted during a run",
				"make the place reachable before the start: accessc mount, or an external rule in access.fs")
			return nil, false
		}
	}
	return s.fsRule(v)
}

func (s scope) notMay(v *source.Value, label, hint string) {
	s.report(diag.BadMay, v, label).Hint = hint
}

// finishMay resolves the rules that can be granted during a run.
func (c *compilation) finishMay(t *ir.Tool, d *draft) {
	for _, r := range d.may.Items() {
		rule := c.resolveFS(t, r)
		if rule != nil && !c.guarded(t, r, rule) {
			t.May = append(t.May, *rule)
		}
	}
	c.lintFS(t.May)
}

// guarded reports a rule that would have a protected path be written.
func (c *compilation) guarded(t *ir.Tool, d *fsDraft, rule *ir.FSRule) bool {
	if !t.Protects || rule.Caps&ir.Write == 0 {
		return false
	}
	for _, p := range slices.Concat(ir.ProtectedPaths(), t.Protected) {
		if rule.At.Under(ir.In(p.Path)) {
			d.scope.key("path").notMay(d.path, "found "+p.Path+", which is protected: "+p.Why,
				"if the tool has to change it, write a rule in access.fs, which a reviewer sees; here remove create, update, delete and write")
			return true
		}
	}
	return false
}
