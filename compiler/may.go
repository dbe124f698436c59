package compiler

import (
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir"
)

// mayDraft is a rule of access.may: one of the two.
type mayDraft struct {
	fs  *fsDraft
	net *netDraft
}

func (d *mayDraft) value() *source.Value {
	if d.net != nil {
		return d.net.value()
	}
	return d.fs.value()
}

// exceeds implements grants.
func (d *mayDraft) exceeds(other grants) bool {
	o, ok := other.(*mayDraft)
	if d.net != nil || !ok || o.fs == nil {
		return d.net == nil || d.net.rule.Allow
	}
	return d.fs.exceeds(o.fs)
}

func mayWinner(d *mayDraft) string {
	if d.net != nil {
		return netWinner(d.net)
	}
	return fsWinner(d.fs)
}

// mayRule reads a rule of access.may: an fs rule on a place of the workspace, or a net rule on a
// host.
// See decisions D202 and D216.
func (s scope) mayRule(v *source.Value) (*mayDraft, bool) {
	if v.Kind == source.TableKind {
		if v.Table.Get("host") != nil {
			return mayScope{s}.mayHost(v)
		}
		if !(mayScope{s}).mayPath(v.Table) {
			return nil, false
		}
	}
	d, ok := s.fsRule(v)
	return &mayDraft{fs: d}, ok
}

// mayPath refuses what cannot be granted during a run.
// See decision D202.
func (s mayScope) mayPath(t *source.Table) bool {
	why := map[string]string{
		"name":    "the tool gets its variables when it starts, and no other ones later",
		"program": "the programs of access.commands are settled when the tool starts",
		"args":    "the programs of access.commands are settled when the tool starts",
		"remove":  "write the list with strategy = \"replace\"",
		"listen":  "connections are accepted by rules of access.net alone",
		"scheme":  "a rule on a host needs the host", "port": "a rule on a host needs the host",
	}
	for i := range t.Entries {
		e := &t.Entries[i]
		if text, ok := why[e.Key]; ok {
			s.notMay(e.Value, "found "+e.Key+": "+text,
				"write a rule with a path or a host, or leave this to access.net, access.env and access.commands")
			return false
		}
	}
	if e := t.Get("names"); e != nil {
		s.notMay(e, "found names: a grant during a run is about a place",
			"write the rule with the path alone; names that a rule of access.fs denies are granted one by one, "+
				"each by its path")
		return false
	}
	if e := t.Get("external"); e != nil {
		s.notMay(e, "found external: only places of the workspace can be granted during a run",
			"make the place reachable before the start: accessc mount, or an external rule in access.fs")
		return false
	}
	return true
}

// mayHost reads a rule on a host: which connections, not what is looked at in them.
func (s mayScope) mayHost(v *source.Value) (*mayDraft, bool) {
	for i := range v.Table.Entries {
		e := &v.Table.Entries[i]
		if slices.Contains([]string{"path_prefix", "methods", "inspect", "opaque", "credential", "listen"}, e.Key) {
			s.notMay(e.Value, "found "+e.Key+": during a run a host is granted as a whole, by scheme and port alone",
				"remove the key, or write the rule in access.net")
			return nil, false
		}
	}
	d, ok := s.netRule(v)
	return &mayDraft{net: d}, ok
}

func (s mayScope) notMay(v *source.Value, label, hint string) {
	s.report(diag.BadMay, v, label).Hint = hint
}

// finishMay resolves the rules that can be granted during a run.
func (c finisher) finishMay(t *ir.Tool, d *draft) {
	for _, r := range d.may.Items() {
		if r.net != nil {
			t.MayNet = append(t.MayNet, r.net.rule)
			continue
		}
		rule := c.resolveFS(t, r.fs)
		if rule != nil && !c.guarded(t, r.fs, rule) {
			t.May = append(t.May, *rule)
		}
	}
	linter(c).lintFS(t.May)
	hosts := &ir.Tool{Net: t.MayNet}
	linter(c).lintNet(hosts)
	linter(c).lintPassing(hosts)
}

// guarded reports a rule that would have a protected path be written.
func (c finisher) guarded(t *ir.Tool, d *fsDraft, rule *ir.FSRule) bool {
	if !t.Protects || rule.Caps&ir.Write == 0 {
		return false
	}
	for _, p := range slices.Concat(ir.ProtectedPaths(), t.Protected) {
		if p.Covers(rule.At) {
			mayScope{d.scope.key("path")}.notMay(d.path, "found "+p.Path+", which is protected: "+p.Why,
				"if the tool has to change it, write a rule in access.fs, which a reviewer sees; here remove create, "+
					"update, delete and write")
			return true
		}
	}
	return false
}
