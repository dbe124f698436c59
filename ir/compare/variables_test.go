package compare

import (
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestVariablesOfPrograms: a program that gets all variables gets more than one that gets some of them.
func TestVariablesOfPrograms(t *testing.T) {
	some, all := ir.CommandRule{Program: "p", AnyArgs: true, Envs: []string{"A"}}, ir.CommandRule{Program: "p",
		AnyArgs: true, AllEnvs: true}
	more := some
	more.Envs = []string{"A", "B"}
	policy := func(r ir.CommandRule) Policy {
		out := ir.NewTool("t")
		out.Commands = &ir.CommandSet{Rules: []ir.CommandRule{r}}
		return Policy{Tool: out}
	}
	for _, tt := range []struct {
		old, new ir.CommandRule
		want     Verdict
	}{{some, all, Widened}, {all, some, Narrowed}, {some, more, Widened}, {more, some, Narrowed}, {all, all,
		Equivalent}} {
		ds := filter(Policies(policy(tt.old), policy(tt.new)), ir.Commands)
		if got := Sum(ds); got != tt.want {
			t.Errorf("from %+v to %+v: %v, want %v: %+v", tt.old, tt.new, got, tt.want, ds)
		}
	}
}
