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
		tool := irtest.Tool(rt, irtest.Plain, 6)
		tool.May = irtest.FSRules(rt, irtest.Plain, 4)
		grants := irtest.FSRules(rt, irtest.Plain, 3)
		live := ir.NewLive(tool, ir.Linux, ir.Facts{})
		view := live.With(grants)
		guarded := func(at ir.Location) bool {
			return tool.Protects && slices.ContainsFunc(live.Own().Protected(), func(p ir.ProtectedPath) bool { return at.Under(ir.In(p.Path)) })
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
		tool := irtest.Tool(rt, irtest.Plain, 6)
		tool.May = irtest.FSRules(rt, irtest.Plain, 4)
		live := ir.NewLive(tool, ir.Linux, ir.Facts{})
		all := live.With([]ir.FSRule{{At: ir.In(""), Caps: ir.All}})
		some := live.With(irtest.FSRules(rt, irtest.Plain, 3))
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

// TestLiveProtected: a rule of May around a protected path, or on one, never grants to write it,
// also where the policy has a rule of its own there.
func TestLiveProtected(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.In("src"), Caps: ir.Caps(ir.Read)}, {At: ir.In(".git/hooks"), Caps: ir.Caps(ir.Read)}}
	tool.May = []ir.FSRule{{At: ir.In(""), Caps: ir.All}, {At: ir.In(".envrc"), Caps: ir.All}}
	live := ir.NewLive(tool, ir.Linux, ir.Facts{})
	for _, grant := range []string{"", ".git", ".git/hooks", ".git/hooks/pre-commit", ".envrc"} {
		view := live.With([]ir.FSRule{{At: ir.In(grant), Caps: ir.All}})
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
