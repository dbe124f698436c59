package kubernetes

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

type fatal interface {
	Helper()
	Fatalf(string, ...any)
}

func compile(t fatal, b Backend, tool *ir.Tool) (*objects, []byte) {
	t.Helper()
	out, err := b.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil || out.Data == nil {
		t.Fatalf("%v %+v", err, out.Refusals)
	}
	o, err := parse(out.Data)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.Data)
	}
	return o, out.Data
}

// strict are the causes that say that a cell permits less.
var strict = []ir.CauseID{whyNoName, whyWhole, whyGuards, whyUnread, whyExternal, whyMounts, whySpecial, whyForm,
	whyRequests, whyAddresses, whyListen, whyValues, whyDeadline, whyAsk}

func permitsLess(h ir.Held) bool { return slices.ContainsFunc(strict, h.Cites) }

func permitsMore(h ir.Held) bool { return h.Is == ir.Weaker || h.Is == ir.Unenforced }

// inPod is a place's path in the pod.
func inPod(at ir.Location) (string, bool) {
	root := mountPath(at.Root.Kind)
	ok := root != ""
	if at.Path != "" {
		root += "/" + at.Path
	}
	return root, ok
}

func draw(rt *rapid.T, names []string, more ...ir.FSRule) (*ir.Tool, *ir.View, *objects, []byte) {
	tool := irtest.ToolByName(rt, names, 6)
	tool.FS = append(tool.FS, more...)
	tool.Command = &ir.Command{Program: "true"}
	if rapid.Bool().Draw(rt, "accepted") {
		tool.Accept = []ir.Acceptance{{Gap: ir.GapFSProtected}}
	}
	o, text := compile(rt, Backend{Sandbox: rapid.Bool().Draw(rt, "sandbox")}, tool)
	return tool, ir.NewView(tool, ir.Linux, ir.Facts{}), o, text
}

// row is the cell of the rule that decided.
func row(t *rapid.T, view *ir.View, o *objects, rule ir.Rule, a ir.Aspect) ir.Held {
	id := ir.DefaultRule
	for _, e := range view.Entries() {
		if rule == ir.Rule(e.Rule) {
			id = e.ID
		}
	}
	out, ok := o.ledger.Cell(ir.FS, id, a, 0, 0)
	if !ok {
		t.Fatalf("%s %s has no row", id, a)
	}
	return out.Held
}

// TestFilesAgainstPolicy puts the same questions to random policies and to the mounts of their pods. The answers may
// differ only where the ledger says in which direction.
func TestFilesAgainstPolicy(t *testing.T) {
	const per = 50
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		_, view, o, text := draw(rt, irtest.Names)
		for range per {
			at := irtest.Place(rt, irtest.Names)
			read, write := false, false
			if path, ok := inPod(at); ok {
				read, write = o.reaches(path)
			}
			capability := rapid.SampledFrom(ir.Capabilities[:]).Draw(rt, "capability")
			got := read
			if capability != ir.Read && capability != ir.Execute {
				got = write
			}
			v := view.Decide(ir.Access{Cap: capability, On: ir.Direct(at)})
			is := row(rt, view, o, v.Rule, ir.AspectOf(capability))
			seen[fmt.Sprintf("%v %v", v.Allowed(), got)]++
			switch {
			case v.Reason != ir.ReasonRule && v.Reason != ir.ReasonDefault:
				// A root or a pin: a mount cannot be removed.
			case v.Allowed() && !got && !permitsLess(is), !v.Allowed() && got && (!permitsMore(is) || is.Cites(whyReadable)):
				rt.Fatalf("%s %v: policy %+v, pod %v, ledger %+v\n%s", capability, at, v, got, is, text)
			}
		}
	})
	irtest.Happened(t, seen, "true true", "true false", "false false", "false true")
}

// TestMovesAgainstPolicy does the same for renames to absent names: a rename stays in one mount.
func TestMovesAgainstPolicy(t *testing.T) {
	const per = 50
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		// A name that leads to a rule is pinned, and no mount. Drawn rules hardly ever grant the directory that it is
		// in.
		var more []ir.FSRule
		if rapid.Bool().Draw(rt, "leads") {
			more = []ir.FSRule{
				{Written: "leads", At: ir.In("leads"), Caps: ir.Write.With(ir.Read)},
				{Written: "leads/a/b", At: ir.In("leads/a/b"), Caps: ir.All},
			}
		}
		_, view, o, text := draw(rt, irtest.Plain, more...)
		for i := range per {
			from, to := irtest.Place(rt, irtest.Plain), irtest.Place(rt, irtest.Plain)
			if i == 0 && more != nil {
				from, to = ir.In("leads/c"), ir.In("leads/a")
			}
			src, ok := inPod(from)
			dst, also := inPod(to)
			if !ok || !also || from.Path == "" || to.Path == "" || ir.Within(src, dst) || ir.Within(dst, src) {
				continue
			}
			kind := irtest.Kind(rt, ir.File, ir.Dir)
			v := view.Decide(ir.Rename{Src: ir.Direct(from), Dst: ir.Direct(to), SrcKind: kind, DstKind: ir.Absent})
			a, _ := o.mountOf(src)
			b, _ := o.mountOf(dst)
			got := a == b && a.Path != "" && a.Path != src && b.Path != dst && !a.ReadOnly
			rows := []ir.Held{}
			for _, at := range []ir.Location{from, to} {
				rule := view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at)}).Rule
				rows = append(rows, row(rt, view, o, rule, ir.AspectMove), row(rt, view, o, rule, ir.AspectDelete), row(rt, view, o, rule, ir.AspectCreate))
			}
			seen[fmt.Sprintf("%v %v", v.Allowed(), got)]++
			if v.Allowed() && !got && !slices.ContainsFunc(rows, permitsLess) || !v.Allowed() && got && !slices.ContainsFunc(rows, permitsMore) {
				rt.Fatalf("%s to %s: policy %+v, pod %v, ledger %+v\n%s", src, dst, v, got, rows, text)
			}
		}
	})
	irtest.Happened(t, seen, "true true", "true false", "false false", "false true")
}

// endpoint draws the target of a connection, half of them near a rule.
func endpoint(rt *rapid.T, rules []ir.NetRule) ir.Operation {
	op := irtest.NetOp(rt, rules)
	to, ok := op.(ir.Connect)
	if !ok {
		return op
	}
	switch rapid.IntRange(0, 5).Draw(rt, "host") {
	case 0:
		a := [4]byte{byte(rapid.SampledFrom([]int{8, 10, 100, 172, 192, 224}).Draw(rt, "a")), byte(rapid.IntRange(0, 255).Draw(rt, "b")), 1, 1}
		to.To.Host = ir.Host{Kind: ir.HostAddr, Addr: netip.AddrFrom4(a)}
	case 1:
		to.To.Host = irtest.Address(rapid.SampledFrom([]string{"2606:4700::1", "fc00::1", "fd12::1", "fe80::1", "::ffff:10.0.0.5", "::ffff:8.8.8.8", "169.254.169.254", "::", "0.0.0.0", "ff02::1"}).Draw(rt, "address"))
	case 2:
		to.To.Host = ir.Host{Kind: ir.HostName, Name: rapid.SampledFrom([]string{"example.com", "a.b.example.com", "x.api.example.com", "notexample.com", "api.example.com.evil.test"}).Draw(rt, "name")}
	}
	return to
}

// passes is the objects' answer about a connection or listener, and whether whatever the bytes are.
func (o *objects) passes(op ir.Operation) (passes, blind bool) {
	switch op := op.(type) {
	case ir.Listen:
		return o.receives(op.Port), false
	case ir.Connect:
		if op.To.Host.Kind == ir.HostAddr {
			open := o.sends(op.To.Host.Addr, op.To.Port)
			return open, open
		}
		if public := netip.MustParseAddr("93.184.215.14"); o.asksAnything() && o.sends(public, op.To.Port) {
			return true, true
		}
		return o.reachesName(op.To.Host.Name, op.To.Port, op.To.Scheme)
	}
	return false, false
}

func inside(op ir.Operation) bool {
	h := ir.Host{}
	switch op := op.(type) {
	case ir.Connect:
		h = op.To.Host
	case ir.Listen:
		h = op.Host
	}
	return h.Kind == ir.HostName && h.Name == ir.Localhost || h.Kind == ir.HostAddr && h.Addr.Unmap().IsLoopback()
}

// TestNetworkAgainstPolicy puts the same connections and listeners to random policies and to their objects. A
// connection that passes is granted; a connection that is granted and does not pass has a row that says so. Loopback is
// the pod's own.
func TestNetworkAgainstPolicy(t *testing.T) {
	const per = 40
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		tool := ir.NewTool("t")
		tool.Command, tool.Net = &ir.Command{Program: "true"}, irtest.NetRules(rt, 5)
		o, text := compile(rt, Backend{}, tool)
		view := ir.NewView(tool, ir.Linux, ir.Facts{})
		for range per {
			op := endpoint(rt, tool.Net)
			if inside(op) {
				continue
			}
			passes, blind := o.passes(op)
			v := view.Decide(op)
			allowed := v.Allowed()
			if to, ok := op.(ir.Connect); ok && blind {
				// Bytes that are not looked at are the bytes of any connection which the policy allows there.
				for _, scheme := range []string{"", "http", "https", "postgres", ir.Stream} {
					to.To.Scheme, to.To.Path, to.Method = scheme, nil, ""
					allowed = allowed || view.Decide(to).Allowed()
				}
			}
			rule, aspect := irtest.NetCell(tool.Net, op, v)
			row, ok := o.ledger.Cell(ir.Net, rule, aspect, 0, 0)
			seen[fmt.Sprintf("%s %v %v", aspect, allowed, passes)]++
			if !ok || passes && !allowed || v.Allowed() && !passes && !permitsLess(row.Held) {
				rt.Fatalf("%+v: policy %+v, objects %v, row %+v\nrules %+v\n%s", op, v, passes, row, tool.Net, text)
			}
		}
	})
	irtest.Happened(t, seen, "connect true true", "connect true false", "connect false false", "listen true true", "listen true false", "listen false false")
}
