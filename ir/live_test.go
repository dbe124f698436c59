package ir_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// capsAt are the capabilities of a view at a place.
func capsAt(v *ir.View, at ir.Location) (out ir.CapSet) {
	for _, c := range ir.Capabilities {
		// At the root of the workspace nothing is created or deleted.
		if v.Decide(ir.Access{Cap: c, On: ir.Direct(at)}).Allowed() {
			out = out.With(c)
		}
	}
	return out
}

// TestLiveAgainstSets compares granted views with the definition by sets: the permissions of the
// policy, and of each grant the part that the longest rule of May permits, without writing to
// protected paths.
func TestLiveAgainstSets(t *testing.T) {
	const per = 50
	widened := false
	irtest.Check(t, 4000, per, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 6)
		tool.May = irtest.FSRules(rt, irtest.Plain, 4)
		grants := irtest.FSRules(rt, irtest.Plain, 3)
		live := ir.NewLive(tool, ir.Linux, ir.Facts{})
		view := live.With(ir.Given{FS: grants})
		guarded := func(at ir.Location) bool {
			return tool.Protects && slices.ContainsFunc(live.Own().Protected(), func(p ir.ProtectedPath) bool { return p.Covers(at) })
		}
		for range per {
			at := irtest.Place(rt, irtest.Plain)
			own := capsAt(live.Own(), at)
			var extra ir.CapSet
			if at.Root.Kind == ir.Workspace {
				for _, g := range grants {
					if at.Under(g.At) {
						extra |= g.Caps
					}
				}
				extra &= naive(tool.May, at)
			}
			if guarded(at) {
				extra &^= ir.Write
			}
			if at.Path == "" {
				extra = extra.Without(ir.Create).Without(ir.Delete)
			}
			if got := capsAt(view, at); got != own|extra {
				rt.Fatalf("at %s: %s, want %s and %s\nmay %v\ngrants %v", at, got, own, extra, tool.May, grants)
			}
			widened = widened || extra&^own != 0
		}
	})
	if !widened {
		t.Error("no grant was of effect")
	}
}

// TestLiveCeiling: a grant of everything everywhere permits as much as May does, and no view of
// other grants permits more, moves included.
func TestLiveCeiling(t *testing.T) {
	irtest.Check(t, 3000, 40, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 6)
		tool.May = irtest.FSRules(rt, irtest.Plain, 4)
		live := ir.NewLive(tool, ir.Linux, ir.Facts{})
		all := live.With(ir.Given{FS: []ir.FSRule{{At: ir.In(""), Caps: ir.All}}})
		some := live.With(ir.Given{FS: irtest.FSRules(rt, irtest.Plain, 3)})
		for range 40 {
			at := irtest.Place(rt, irtest.Plain)
			ceiling, rule := live.Ceiling(at)
			if (rule == nil) && ceiling != 0 {
				rt.Fatalf("%s at %s by no rule", ceiling, at)
			}
			if got, most := capsAt(some, at), capsAt(all, at); !most.Contains(got) {
				rt.Fatalf("at %s: %s, and with every grant %s", at, got, most)
			}
		}
	})
}

// TestLiveProtected: a rule of May around a protected path, or on it, never grants to write it,
// also where the policy has a rule of its own there.
func TestLiveProtected(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.In("src"), Caps: ir.Caps(ir.Read)}, {At: ir.In(".git/hooks"), Caps: ir.Caps(ir.Read)}}
	tool.May = []ir.FSRule{{At: ir.In(""), Caps: ir.All}, {At: ir.In(".envrc"), Caps: ir.All}}
	bare := *tool
	bare.Protects = false // its own rules write no protected path
	for _, grant := range []string{"", ".git", ".git/hooks", ".git/hooks/pre-commit", ".envrc"} {
		view := ir.NewLive(&bare, ir.Linux, ir.Facts{}).With(ir.Given{FS: []ir.FSRule{{At: ir.In(grant), Caps: ir.All}}})
		for _, p := range []string{".git/hooks", ".git/hooks/pre-commit", ".envrc", "accessc.toml"} {
			if got := capsAt(view, ir.In(p)); got&ir.Write != 0 {
				t.Errorf("protected none, granted %q: %s at %s", grant, got, p)
			}
		}
	}
	live := ir.NewLive(tool, ir.Linux, ir.Facts{})
	for _, grant := range []string{"", ".git", ".git/hooks", ".git/hooks/pre-commit", ".envrc"} {
		view := live.With(ir.Given{FS: []ir.FSRule{{At: ir.In(grant), Caps: ir.All}}})
		for _, p := range []string{".git/hooks", ".git/hooks/pre-commit", ".envrc", "accessc.toml"} {
			if got := capsAt(view, ir.In(p)); got&ir.Write != 0 {
				t.Errorf("granted %q: %s at %s", grant, got, p)
			}
		}
		if got := capsAt(view, ir.In("src/a")); (grant == "") != got.Has(ir.Update) || !got.Has(ir.Read) {
			t.Errorf("granted %q: %s at src/a", grant, got)
		}
	}
	if strings.Contains(capsAt(live.Own(), ir.In("src")).String(), "update") {
		t.Error("May grants by itself")
	}
}

// TestLiveMoves: a file does not come to where more can be granted, and none stays reachable by a
// second name when a grant ends. A move before the grant read a file that May takes out, and a hard
// link that was permitted once was good for ever.
func TestLiveMoves(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Declared.FS = true
	tool.FS = []ir.FSRule{
		{At: ir.In("data"), Caps: ir.Caps(ir.Create, ir.Delete)}, {At: ir.In("src"), Caps: ir.Caps(ir.Read, ir.Create, ir.Update, ir.Delete)},
	}
	tool.May = []ir.FSRule{{At: ir.In("data/pub"), Caps: ir.Caps(ir.Read)}, {At: ir.In("data/keys")}, {At: ir.In("gen"), Caps: ir.Caps(ir.Read, ir.Update)}}
	live := ir.NewLive(tool, ir.Linux, ir.Facts{})
	rename := func(a, b string) ir.Rename {
		return ir.Rename{Src: ir.Direct(ir.In(a)), Dst: ir.Direct(ir.In(b)), SrcKind: ir.File, DstKind: ir.Absent}
	}
	link := ir.Link{Src: ir.Direct(ir.In("gen/f")), Dst: ir.Direct(ir.In("src/f"))}
	granted := live.With(ir.Given{FS: []ir.FSRule{{At: ir.In("gen"), Caps: ir.Caps(ir.Read, ir.Update)}}})
	for _, c := range []struct {
		view *ir.View
		op   ir.Operation
		want bool
	}{
		{live.With(ir.Given{}), rename("data/keys/k", "data/pub/k"), false},
		{live.With(ir.Given{}), rename("data/a", "data/pub/k"), false},
		{live.With(ir.Given{}), rename("data/a", "data/b"), true},
		{live.With(ir.Given{}), rename("data/pub", "data/other"), false},
		{live.With(ir.Given{}), rename("src/a", "data/pub/k"), true},
		{granted, link, false},
		{granted, ir.Access{Cap: ir.Update, On: ir.Direct(ir.In("gen/f"))}, true},
	} {
		if got := c.view.Decide(c.op); got.Allowed() != c.want {
			t.Errorf("%+v: %+v", c.op, got)
		}
	}
	if _, ok := live.Ask(live.With(ir.Given{}), ir.Given{}, link); ok {
		t.Error("a link to a place with more is asked about")
	}
}
