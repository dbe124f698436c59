package explain

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// may lists the capabilities and hosts that the user can grant while the tool runs.
func (p *Policy) may() []line {
	var out []line
	for i := range p.Tool.May {
		r := &p.Tool.May[i]
		caps := "nothing of "
		if r.Caps != 0 {
			caps = r.Caps.String() + " of "
		}
		out = append(out, line{body: caps + r.Subject(), origin: r.Origin.String()})
	}
	for i := range p.Tool.MayNet {
		r := &p.Tool.MayNet[i]
		verb := "not connect "
		if r.Allow {
			verb = "connect "
		}
		out = append(out, line{body: verb + r.Subject(), origin: r.Origin.String()})
	}
	if len(out) > 0 {
		out[0].head, out[0].note = "may ask", "under exec --ask"
	}
	return out
}

// mayAsk says which rule lets the denied operation be granted while the tool runs; empty where
// none does.
func (a *Answer) mayAsk() string {
	if r, _ := a.may(); r != nil {
		return "may be asked for with exec --ask, by " + ruleText(r)
	}
	return ""
}

// may is the rule that lets the denied operation be granted while the tool runs, nil where none
// does.
func (a *Answer) may() (ir.Rule, ir.RuleID) {
	if a.Live == nil || a.Verdict.Allowed() {
		return nil, ""
	}
	q, ok := a.Live.Ask(a.View, ir.Given{}, a.Operation)
	if !ok {
		return nil, ""
	}
	t := a.View.Tool
	if i := slices.IndexFunc(t.MayNet, func(r ir.NetRule) bool {
		return r.Subject() == q.By.Subject() && r.Origin == q.By.Source()
	}); i >= 0 {
		return &t.MayNet[i], ir.MayNetRuleID(i)
	}
	if i := slices.IndexFunc(t.May, func(r ir.FSRule) bool {
		return r.Subject() == q.By.Subject() && r.Origin == q.By.Source()
	}); i >= 0 {
		return &t.May[i], ir.MayRuleID(i)
	}
	return nil, ""
}
