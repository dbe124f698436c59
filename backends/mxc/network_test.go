package mxc

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestNetworkAgainstPolicy puts the same connections to random policies and to their emitted
// configurations. A connection passes only if the policy grants it; a connection that is granted and does not pass has
// a row that says so.
func TestNetworkAgainstPolicy(t *testing.T) {
	const per = 40
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		tool := ir.NewTool("t")
		tool.Command, tool.Net = &ir.Command{Program: "true"}, irtest.NetRules(rt, 5)
		data := compile(t, tool, backends.Target{Form: backends.Portable})
		c, err := parse(data)
		if err != nil {
			rt.Fatal(err)
		}
		ledger, err := backends.Ledger(c.Comment.Ledger)
		if err != nil {
			rt.Fatal(err)
		}
		view := ir.NewView(tool, ir.Linux, ir.Facts{})
		for _, cell := range view.Cells() {
			if row, ok := ledger.Cell(cell.Resource, cell.ID, cell.Aspect, 0, 0); cell.Resource == ir.Net && (!ok || !row.Is.Held()) {
				rt.Fatalf("%s %s: %+v", cell.ID, cell.Aspect, row)
			}
		}
		for range per {
			op := irtest.NetOp(rt, tool.Net)
			passes := connects(c, op)
			if to, ok := op.(ir.Connect); ok && passes && to.To.Scheme == ir.Stream {
				to.To.Scheme = "" // an address is open to every kind of connection
				op = to
			}
			v := view.Decide(op)
			rule, aspect := irtest.NetCell(tool.Net, op, v)
			row, ok := ledger.Cell(ir.Net, rule, aspect, 0, 0)
			seen[fmt.Sprintf("%s %v %v %s", aspect, v.Allowed(), passes, row.Is)]++
			if !ok || passes && !v.Allowed() || v.Allowed() && !passes && row.Is != ir.Stricter {
				rt.Fatalf("%+v: policy %v, configuration %v, row %+v\nrules %+v\n%s", op, v.Allowed(), passes, row, tool.Net, data)
			}
		}
	})
	irtest.Happened(t, seen, "connect true true exact", "connect true false stricter", "connect false false exact", "listen true false stricter", "listen false false exact")
}

// connects returns a configuration's answer about a connection. A name is none of its peers, and
// this machine is behind a switch of its own.
func connects(c *Config, op ir.Operation) bool {
	to, ok := op.(ir.Connect)
	if !ok || to.To.Host.Kind != ir.HostAddr || to.To.Host.Addr.IsLoopback() {
		return c.Network.Ingress != Ingress{Default: "deny", HostLoopback: "deny"}
	}
	return c.Network.Egress.Default != "deny" || slices.ContainsFunc(c.Network.Egress.Allow, func(r Rule) bool {
		return slices.Contains(r.Ports, Port{"tcp", to.To.Port}) && slices.ContainsFunc(r.To, func(p Peer) bool {
			prefix, err := netip.ParsePrefix(p.CIDR)
			return err != nil || prefix.Contains(to.To.Host.Addr)
		})
	})
}
