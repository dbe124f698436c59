package contextjson

import (
	"strconv"

	"github.com/accessc/accessc/ir"
)

const why = "the Context asks the tool to check itself"

// ledger states that the Context alone holds nothing: the tool does, if it asks.
func ledger(t *ir.Tool) ir.Ledger {
	b := ir.NewLedger(0)
	add := func(r ir.Resource, rule string) {
		for _, a := range ir.Aspects(r) {
			b.Add(r, rule, a, ir.Levels{}, ir.Held{Is: ir.Cooperative, Why: why})
		}
	}
	list := func(r ir.Resource, n int) {
		for i := range n {
			add(r, r.String()+"["+strconv.Itoa(i)+"]")
		}
		add(r, "default")
	}
	list(ir.FS, len(t.FS))
	list(ir.Net, len(t.Net))
	list(ir.Env, len(t.Env))
	if t.Commands != nil {
		for i := range t.Commands.Rules {
			add(ir.Commands, "commands."+t.Commands.Rules[i].Program)
		}
	}
	add(ir.Commands, "default")
	for _, l := range t.Limits {
		add(ir.Limits, l.Kind.String())
	}
	add(ir.Process, "default")
	return b.Ledger()
}
