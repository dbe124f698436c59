package explain

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// may lists the capabilities that the user can grant while the tool runs.
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
	if len(out) > 0 {
		out[0].head, out[0].note = "may ask", "under exec --ask"
	}
	return out
}

// mayAsk says which rule lets the denied operation be granted while the tool runs; empty where
// none does.
func (a *Answer) mayAsk() string {
	if i := slices.IndexFunc(a.View.Tool.May, a.may); i >= 0 {
		return "may be asked for with exec --ask, by " + ruleText(&a.View.Tool.May[i])
	}
	return ""
}

// may reports whether a rule lets the denied operation be granted while the tool runs.
func (a *Answer) may(r ir.FSRule) bool {
	if a.Live == nil || a.Verdict.Allowed() {
		return false
	}
	q, ok := a.Live.Ask(a.View, nil, a.Operation)
	return ok && q.By.At == r.At && q.By.Origin == r.Origin
}
