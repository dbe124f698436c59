package suite

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// Failing is a test, or a run of a property.
type Failing interface{ Fatal(...any) }

// Written is a program whose settings are tested.
type Written struct {
	Backend   backends.Backend
	Sentences []backends.Sentences
	// Model evaluates settings in a workspace and for a home, on a host where every name exists.
	Model func(t Failing, data []byte, dir, home string) foreign.Policy
	// Never are capabilities that the settings give nowhere beyond the policy, also where the ledger says that
	// something else does.
	Never ir.CapSet
}

// Compile compiles a tool for a host, or for all of them where portable is set.
func (x Written) Compile(t Failing, tool *ir.Tool, b ir.Bindings, portable bool) *Case {
	facts := ir.Facts{Bindings: &b}
	target := backends.Target{Form: backends.Resolved, Facts: facts}
	if portable {
		target = backends.Target{Form: backends.Portable}
	}
	out, err := x.Backend.Compile(tool, target)
	if err != nil || out.Data == nil {
		t.Fatal(err)
	}
	return &Case{Tool: tool, Bind: b, View: ir.NewView(tool, ir.Linux, facts), Output: out,
		Model: x.Model(t, out.Data, b.Workspace, "/home/u"), Never: x.Never}
}

// Why puts causes into words.
func (x Written) Why(causes []ir.Cause) string {
	all := backends.Sentences{}
	for _, s := range x.Sentences {
		maps.Copy(all, s)
	}
	return all.All(causes)
}

// FilesAgainstPolicy puts the same questions about files to random policies and to their settings. The answers may
// differ only where the ledger says in which direction. kinds are answers that have to occur.
func (x Written) FilesAgainstPolicy(t *testing.T, draw func(*rapid.T) *ir.Tool, kinds ...string) {
	const per = 40
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		tool := draw(rt)
		c := x.Compile(rt, tool, Hosts(rt, tool), rapid.Bool().Draw(rt, "portable"))
		c.Whole(rt, x.Why)
		for range per {
			c.Files(rt, seen)
		}
	})
	irtest.Happened(t, seen, kinds...)
}

// HostsAgainstPolicy does the same with hosts, in n runs of per questions each.
func (x Written) HostsAgainstPolicy(t *testing.T, n, per int, kinds ...string) {
	seen := map[string]int{}
	irtest.Check(t, n, per, func(rt *rapid.T) {
		tool := ir.NewTool("t")
		tool.Net = irtest.NetRules(rt, 6)
		c := x.Compile(rt, tool, ir.Bindings{Workspace: "/w"}, true)
		for range per {
			c.Connections(rt, seen)
		}
	})
	irtest.Happened(t, seen, kinds...)
}
