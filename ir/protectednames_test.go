package ir_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestLayersBelow: the names of layers are protected at every depth, since a start in a directory reads the layers of
// the nearest directory upwards. Cause: a tool without network wrote src/accessc.toml, and was started in src with all
// of it.
func TestLayersBelow(t *testing.T) {
	tool := ir.NewTool("t")
	write := func(p string) ir.FSRule { return ir.FSRule{Written: p, At: ir.In(p), Caps: ir.All} }
	tool.FS = []ir.FSRule{write("src"), write("own/.jp"), write("own/sub/accessc.toml"), write(".accessc/x")}
	v := ir.NewView(tool, ir.Linux, ir.Facts{})
	for _, c := range []struct {
		at   string
		want bool
	}{
		{"src/accessc.toml", false}, {"src/a/b/accessc.toml", false}, {"src/.accessc", false}, {"src/a/.accessc/local.toml", false},
		{"src/.jp", false}, {"src/.jp/config.toml", false}, {"src/a/.jp/x/y", false}, {"src/accessc.toml/x", false},
		{"src/xaccessc.toml", true}, {"src/accessc.tomlx", true}, {"src/accessc/local.toml", true}, {"src/jp", true},
		{"own/.jp/config.toml", true}, {"own/.jp/accessc.toml", false}, {"own/sub/accessc.toml", true}, {"own/sub", false},
	} {
		for _, op := range []ir.Operation{
			ir.Access{Cap: ir.Create, On: ir.Direct(ir.In(c.at)), Name: ir.NameDir}, ir.Access{Cap: ir.Update, On: ir.Direct(ir.In(c.at))},
			ir.Access{Cap: ir.Delete, On: ir.Direct(ir.In(c.at)), Name: ir.NameDir},
			ir.Link{Src: ir.Direct(ir.In("src/x")), Dst: ir.Direct(ir.In(c.at))},
			ir.Rename{Src: ir.Direct(ir.In("src/x")), Dst: ir.Direct(ir.In(c.at)), SrcKind: ir.File, DstKind: ir.Absent},
			ir.Rename{Src: ir.Direct(ir.Location{Root: ir.Root{Kind: ir.Temp}, Path: "x"}), Dst: ir.Direct(ir.In(c.at)), SrcKind: ir.File, DstKind: ir.File},
			ir.Copy{Src: ir.Direct(ir.In("src/x")), Dst: ir.Direct(ir.In(c.at)), DstKind: ir.Absent},
		} {
			if got := v.Decide(op); got.Allowed() && !c.want {
				t.Errorf("%+v is permitted", op)
			} else if a, ok := op.(ir.Access); ok && got.Allowed() != c.want {
				t.Errorf("%+v: got %v", a, got.Allowed())
			}
		}
		if !v.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(ir.In("src/accessc.toml"))}).Allowed() {
			t.Error("reading is taken away as well")
		}
	}
}

// guardedBy says by trying whether patterns protect a path although rules are written: the deepest prefix of the
// path that a pattern matches has no rule at or below it.
func guardedBy(patterns []string, rules []ir.FSRule, at ir.Location) bool {
	if at.Root.Kind != ir.Workspace || at.Path == "" {
		return false
	}
	parts := strings.Split(at.Path, "/")
	for n := len(parts); n > 0; n-- {
		prefix := strings.Join(parts[:n], "/")
		on := func(r ir.FSRule) bool { return !r.ByName() && r.At.Root == at.Root && r.At.Path == prefix }
		if slices.ContainsFunc(rules, on) {
			return false
		}
		if slices.ContainsFunc(patterns, func(p string) bool { return matches(strings.Split(p, "/"), parts[:n]) }) {
			return true
		}
	}
	return false
}

// matches reports whether a pattern matches a path, by trying all that "**" may stand for.
func matches(pattern, names []string) bool {
	if len(pattern) == 0 {
		return len(names) == 0
	}
	if pattern[0] == "**" {
		return matches(pattern[1:], names) || len(names) > 0 && matches(pattern, names[1:])
	}
	part := strings.NewReplacer(".", `\.`, "*", ".*", "?", ".").Replace(pattern[0])
	return len(names) > 0 && regexp.MustCompile("^"+part+"$").MatchString(names[0]) && matches(pattern[1:], names[1:])
}

// TestMoveBringsLiftedNames: a rule below a directory lets the tool make a name there that patterns protect
// elsewhere, so the directory is not moved to where the name is protected. A soak with fresh seeds found it.
func TestMoveBringsLiftedNames(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = append(tool.FS, ir.FSRule{At: ir.In("a/b/a"), Caps: ir.All}, ir.FSRule{At: ir.In("k/b/a"), Caps: ir.All})
	tool.Protected = []ir.ProtectedPath{{Path: "**/b", Pattern: true}}
	v := ir.NewView(tool, ir.Linux, ir.Facts{})
	for src, dsts := range map[string]map[string]bool{
		"a": {"c": false, "x/y/z": false, "k/c": false}, "a/x": {"c": true}, "d": {"c": true, "a/x": true},
	} {
		for dst, want := range dsts {
			op := ir.Rename{Src: ir.Direct(ir.In(src)), Dst: ir.Direct(ir.In(dst)), SrcKind: ir.Dir, DstKind: ir.Absent}
			if got := v.Decide(op); got.Allowed() != want {
				t.Errorf("%s to %s: %v (%v)", src, dst, got.Allowed(), got.Reason)
			}
		}
	}
}

// TestPatternsAgainstNaive: with patterns of any form, a name is written exactly if the text of the specification says
// so, and no move of a directory brings a protected name to where the tool could not have made it.
func TestPatternsAgainstNaive(t *testing.T) {
	parts := []string{"*", "**", "a", "b", "a*", "?", "?b", "[ab]"}
	const per = 200
	irtest.Check(t, 5000, per, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 5)
		tool.Protects, tool.Protected = true, nil
		var patterns []string
		for range rapid.IntRange(1, 3).Draw(rt, "patterns") {
			n := rapid.IntRange(1, 4).Draw(rt, "parts")
			p := make([]string, n)
			for i := range p {
				p[i] = rapid.SampledFrom(parts).Draw(rt, "part")
			}
			patterns = append(patterns, strings.Join(p, "/"))
			tool.Protected = append(tool.Protected, ir.ProtectedPath{Path: patterns[len(patterns)-1], Pattern: true})
		}
		view, rules := ir.NewView(tool, ir.Linux, ir.Facts{}), rulesOf(tool)
		within := func(at ir.Location) []ir.Location {
			out := []ir.Location{}
			for _, a := range []string{"a", "b", "ab", "x"} {
				out = append(out, at.Child(a))
				for _, b := range []string{"a", "b", "ab", "x"} {
					out = append(out, at.Child(a).Child(b))
				}
			}
			return out
		}
		for range per {
			at := irtest.Place(rt, irtest.Plain)
			guarded := guardedBy(patterns, rules, at)
			op := ir.Access{Cap: ir.Update, On: ir.Direct(at)}
			if got, want := view.Decide(op).Allowed(), naive(rules, at).Has(ir.Update) && !guarded; got != want {
				rt.Fatalf("%v: %+v: got %v, want %v", patterns, op, got, want)
			}
			for _, p := range tool.Protected {
				if at.Root.Kind == ir.Workspace && p.Covers(at) != guardedBy([]string{p.Path}, nil, at) {
					rt.Fatalf("%v covers %v: %v", p.Path, at, p.Covers(at))
				}
			}
			to := irtest.Place(rt, irtest.Plain)
			move := ir.Rename{Src: ir.Direct(at), Dst: ir.Direct(to), SrcKind: ir.Dir, DstKind: ir.Absent}
			if !view.Decide(move).Allowed() {
				continue
			}
			had, gets := within(at), within(to)
			for i := range gets {
				if guardedBy(patterns, rules, gets[i]) && !guardedBy(patterns, rules, had[i]) {
					rt.Fatalf("%v: %+v brings %v", patterns, move, gets[i])
				}
			}
		}
	})
}
