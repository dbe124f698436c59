package contextjson

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

const (
	whyAsked ir.CauseID = "context.asked"
	whyMay   ir.CauseID = "context.may"
)

// Sentences are the sentences of the ledger's causes.
var Sentences = backends.Sentences{
	whyAsked: "the Context asks the tool to check itself",
	whyMay:   "the Context does not say what can be granted while the tool runs",
}

// ledger states that the Context alone enforces nothing: the tool does, if it asks.
func ledger(t *ir.Tool) ir.Ledger {
	b, asked := ir.NewLedger(0), ir.Because(ir.Advisory, "", whyAsked)
	add := func(r ir.Resource, rule ir.RuleID) {
		for _, a := range ir.Aspects(r) {
			b.Add(ir.Cell{Resource: r, ID: rule, Aspect: a}, ir.Levels{}, asked)
		}
	}
	list := func(r ir.Resource, n int) {
		for i := range n {
			add(r, ir.ListRuleID(r, i))
		}
		add(r, ir.DefaultRule)
	}
	list(ir.FS, len(t.FS))
	for i := range t.MayNet {
		b.Add(ir.Cell{Resource: ir.Net, ID: ir.MayNetRuleID(i), Aspect: ir.AspectAsk}, ir.Levels{}, backends.Stricter(whyMay))
	}
	for i := range t.May {
		b.Add(ir.Cell{Resource: ir.FS, ID: ir.MayRuleID(i), Aspect: ir.AspectAsk}, ir.Levels{}, backends.Stricter(whyMay))
	}
	for i, r := range t.Net {
		a := ir.AspectConnect
		if r.Listen {
			a = ir.AspectListen
		}
		b.Add(ir.Cell{Resource: ir.Net, ID: ir.NetRuleID(i), Aspect: a}, ir.Levels{}, asked)
	}
	add(ir.Net, ir.DefaultRule)
	list(ir.Env, len(t.Env))
	if t.Commands != nil {
		for i := range t.Commands.Rules {
			add(ir.Commands, t.Commands.Rules[i].ID())
		}
	}
	add(ir.Commands, ir.DefaultRule)
	for _, l := range t.Limits {
		add(ir.Limits, l.ID())
	}
	add(ir.Process, ir.DefaultRule)
	return b.Ledger()
}
