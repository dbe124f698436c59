package contextjson

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

const (
	whyAsked ir.CauseID = "context.asked"
	whyMay   ir.CauseID = "context.may"
)

// Sentences are the sentences of the ledger's causes.
func Sentences() backends.Sentences {
	return backends.Sentences{
		whyAsked: "the Context asks the tool to check itself",
		whyMay:   "the Context does not say what can be granted while the tool runs",
	}
}

// ledger states that the Context by itself enforces nothing: the tool does, if it asks.
func ledger(t *ir.Tool) ir.Ledger {
	b, asked := ir.NewLedger(0), ir.Because(ir.Advisory, "", whyAsked)
	// Rules on files are many, and stated alike in all aspects.
	files := ir.Row{Resource: ir.FS, Rules: make([]ir.RuleID, 0, len(t.FS)+1), Aspects: slices.Clone(ir.Aspects(ir.FS)),
		Held: asked}
	for i := range t.FS {
		files.Rules = append(files.Rules, ir.FSRuleID(i))
	}
	files.Rules = append(files.Rules, ir.DefaultRule)
	add := func(r ir.Resource, rule ir.RuleID) {
		for _, a := range ir.Aspects(r) {
			b.Add(ir.Cell{Resource: r, ID: rule, Aspect: a}, ir.Levels{}, asked)
		}
	}
	for i := range t.MayNet {
		b.Add(ir.Cell{Resource: ir.Net, ID: ir.MayNetRuleID(i), Aspect: ir.AspectAsk}, ir.Levels{},
			backends.Stricter(whyMay))
	}
	for i := range t.May {
		b.Add(ir.Cell{Resource: ir.FS, ID: ir.MayRuleID(i), Aspect: ir.AspectAsk}, ir.Levels{},
			backends.Stricter(whyMay))
	}
	for i, r := range t.Net {
		a := ir.AspectConnect
		if r.Listen {
			a = ir.AspectListen
		}
		b.Add(ir.Cell{Resource: ir.Net, ID: ir.NetRuleID(i), Aspect: a}, ir.Levels{}, asked)
	}
	add(ir.Net, ir.DefaultRule)
	for i := range t.Env {
		add(ir.Env, ir.EnvRuleID(i))
	}
	add(ir.Env, ir.DefaultRule)
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
	return append(ir.Ledger{files}, b.Ledger()...)
}
