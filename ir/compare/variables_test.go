package compare

import (
	"slices"
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

// TestOwnVariablesTellNoSystemsApart: the variables that accessc sets itself are others on each system. A rule on more
// of the names is one difference on all of them, without those.
func TestOwnVariablesTellNoSystemsApart(t *testing.T) {
	policy := func(home ir.HomeKind, rules ...ir.EnvRule) Policy {
		out := ir.NewTool("t")
		out.Home, out.Env = home, rules
		return Policy{Tool: out}
	}
	path := ir.EnvRule{Name: "PATH", Read: true}
	for _, prefix := range []string{"", "A", "DIR", "H", "L", "T", "U", "X"} {
		for _, home := range []ir.HomeKind{ir.HomePrivate, ir.HomeReal} {
			ds := filter(Policies(policy(home, path), policy(home, path, ir.EnvRule{Name: prefix, Prefix: true, Read: true})), ir.Env)
			if home == ir.HomePrivate && len(ds) != 1 {
				t.Errorf("%s*: %d differences, want one: %+v", prefix, len(ds), ds)
			}
			for _, d := range ds {
				own := slices.ContainsFunc(d.Except, func(name string) bool {
					return slices.ContainsFunc(ir.Platforms[:], func(p ir.Platform) bool { return ir.OwnVariable(name, home == ir.HomePrivate, p) })
				})
				if d.Platforms != nil || own {
					t.Errorf("%s*, %v home: on %v, but %v", prefix, home, d.Platforms, d.Except)
				}
			}
		}
	}
	// A rule that takes such a variable away is a difference.
	for name, systems := range map[string]int{"HOME": 0, ir.DarwinSuffix: 1, "APPDATA": 1} {
		none := ir.EnvRule{Name: name}
		ds := filter(Policies(policy(ir.HomePrivate), policy(ir.HomePrivate, none)), ir.Env)
		if len(ds) != 1 || ds[0].Wider || ds[0].Where != name || len(ds[0].Platforms) != systems {
			t.Errorf("without %s: %+v", name, ds)
		}
	}
	// So is a variable that another home no longer sets.
	all := ir.EnvRule{Prefix: true, Read: true}
	if ds := filter(Policies(policy(ir.HomeReal), policy(ir.HomePrivate)), ir.Env); len(ds) == 0 {
		t.Errorf("a private home sets no variable")
	}
	if ds := filter(Policies(policy(ir.HomeReal, all), policy(ir.HomePrivate, all)), ir.Env); len(ds) != 0 {
		t.Errorf("all variables are there with both homes: %+v", ds)
	}
}
