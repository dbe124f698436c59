package irtest

import (
	"path"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
)

// Names are components that have something to get wrong: prefixes of each other,
// dots, blanks, characters that formats quote, letters outside of ASCII. None of
// them equals another under case folding.
var Names = []string{"a", "ab", "abc", ".env", "src", "src_gen", "x y", "(p)", "ü", "d'e", "%41", "$h"}

// Plain are the components without anything to quote, for tests that would rather
// have collisions than variety.
var Plain = []string{"a", "b", "ab"}

// Path generates a path of up to depth components; the root is among them.
func Path(t *rapid.T, names []string, depth int) string {
	n := rapid.IntRange(0, depth).Draw(t, "depth")
	parts := make([]string, n)
	for i := range parts {
		parts[i] = rapid.SampledFrom(names).Draw(t, "name")
	}
	return strings.Join(parts, "/")
}

// Caps generates a set of capabilities; everything and nothing are frequent.
func Caps(t *rapid.T) ir.CapSet {
	switch rapid.IntRange(0, 5).Draw(t, "kind of caps") {
	case 0:
		return 0
	case 1:
		return ir.All
	}
	var s ir.CapSet
	for _, c := range ir.Capabilities {
		if rapid.Bool().Draw(t, c.String()) {
			s = s.With(c)
		}
	}
	return s
}

// FSRules generates up to n filesystem rules in the workspace.
func FSRules(t *rapid.T, names []string, n int) []ir.FSRule {
	count := rapid.IntRange(0, n).Draw(t, "rules")
	out := make([]ir.FSRule, count)
	for i := range out {
		p := Path(t, names, 3)
		out[i] = ir.FSRule{
			Written: p, At: ir.In(p), Caps: Caps(t),
			Origin: ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "accessc.toml", Line: i + 1, Col: 1}},
		}
	}
	return out
}

// Elsewhere is the root of a rule that names its place by itself. It stands for the user's home.
var Elsewhere = ir.Root{Kind: ir.External, Name: "~"}

// Outside generates rules that name their places by themselves, one in the other, and rules below
// them that grant nothing.
func Outside(t *rapid.T, names []string) []ir.FSRule {
	var out []ir.FSRule
	add := func(at ir.Location, external bool, caps ir.CapSet) {
		out = append(out, ir.FSRule{
			Written: at.Short(), At: at, External: external, Caps: caps,
			Origin: ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "accessc.toml", Line: 100 + len(out), Col: 1}},
		})
	}
	add(ir.Location{Root: Elsewhere}, true, Caps(t))
	if rapid.Bool().Draw(t, "below") {
		add(ir.Location{Root: Elsewhere, Path: rapid.SampledFrom(names).Draw(t, "name")}, false, 0)
	}
	if rapid.Bool().Draw(t, "inner") {
		add(ir.Location{Root: ir.Root{Kind: ir.External, Name: "~/" + names[0]}}, true, Caps(t))
	}
	return out
}

// Bind binds the roots of such rules below a directory of the host.
func Bind(b *ir.Bindings, t *ir.Tool, dir string) {
	if b.External == nil {
		b.External = map[string]string{}
	}
	for i := range t.FS {
		if r := t.FS[i].At.Root; r.Direct() {
			b.External[r.Name] = path.Clean(dir + strings.TrimPrefix(r.Name, "~"))
		}
	}
}

// Patterns are patterns of names over Plain and Names, with every form of their parts.
var Patterns = []string{"a", "b", "ab", "a*", "*b", "?", "[ab]", "[^a]", "*", ".env", ".env*", "?b", "a?"}

// ByName adds up to n rules by name to a tool, among its other rules.
func ByName(t *rapid.T, tool *ir.Tool, names []string, n int) {
	for range rapid.IntRange(0, n).Draw(t, "rules by name") {
		at := ir.In(Path(t, names, 1))
		external := slices.ContainsFunc(tool.FS, func(r ir.FSRule) bool { return r.At == ir.Location{Root: Elsewhere} })
		if external && rapid.IntRange(0, 3).Draw(t, "outside") == 0 {
			at = ir.Location{Root: Elsewhere}
		}
		patterns := rapid.SliceOfNDistinct(rapid.SampledFrom(Patterns), 1, 2, rapid.ID[string]).Draw(t, "patterns")
		slices.Sort(patterns)
		r := ir.FSRule{
			Written: at.Short(), At: at, Names: patterns, External: at.Root == Elsewhere, Caps: Caps(t),
		}
		r.Origin = ir.Origin{
			Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "accessc.toml", Line: 200 + len(tool.FS), Col: 1},
		}
		tool.FS = slices.Insert(tool.FS, rapid.IntRange(0, len(tool.FS)).Draw(t, "position"), r)
	}
}

// Tool generates a tool with random filesystem rules and the defaults otherwise.
func Tool(t *rapid.T, names []string, n int) *ir.Tool {
	tool := ir.NewTool("t")
	tool.FS, tool.Declared.FS = FSRules(t, names, n), true
	if rapid.IntRange(0, 3).Draw(t, "outside") == 0 {
		tool.FS = append(tool.FS, Outside(t, names)...)
	}
	tool.Protects = rapid.IntRange(0, 7).Draw(t, "protects") == 0
	if tool.Protects && rapid.Bool().Draw(t, "further protected path") {
		tool.Protected = []ir.ProtectedPath{{Path: Path(t, names, 2), Why: "test"}}
	}
	if i := slices.IndexFunc(tool.FS, func(r ir.FSRule) bool { return r.External }); tool.Protects && i >= 0 {
		tool.Protected = append(tool.Protected, further(t, names, tool.FS[i].At.Root)...)
	}
	return tool
}

// ToolByName is a tool as Tool generates it that has rules by name in half of the cases.
func ToolByName(t *rapid.T, names []string, n int) *ir.Tool {
	tool := Tool(t, names, n)
	if rapid.Bool().Draw(t, "by name") {
		ByName(t, tool, names, 2)
	}
	return tool
}

// further generates protected paths of an external root, and one in a protected directory that is open.
func further(t *rapid.T, names []string, root ir.Root) []ir.ProtectedPath {
	out := []ir.ProtectedPath{{Root: root, Path: Path(t, names, 2), Why: "test"}}
	if rapid.Bool().Draw(t, "open") {
		inner := path.Join(out[0].Path, rapid.SampledFrom(names).Draw(t, "open name"))
		out = append(out, ir.ProtectedPath{Root: root, Path: inner, Open: true, Why: "test"},
			ir.ProtectedPath{Root: root, Path: path.Join(inner, "config"), Why: "test"})
	}
	return out
}

// Place generates a place in the workspace, or now and then in one of the other
// roots.
func Place(t *rapid.T, names []string) ir.Location {
	switch rapid.IntRange(0, 9).Draw(t, "root") {
	case 0:
		return ir.Location{Root: ir.Root{Kind: ir.Home}, Path: Path(t, names, 2)}
	case 1:
		return ir.Location{Root: ir.Root{Kind: ir.Temp}, Path: Path(t, names, 2)}
	case 2:
		return ir.Location{Root: Elsewhere, Path: Path(t, names, 2)}
	default:
		return ir.In(Path(t, names, 4))
	}
}

// Kind generates a kind of node.
func Kind(t *rapid.T, kinds ...ir.NodeKind) ir.NodeKind {
	return rapid.SampledFrom(kinds).Draw(t, "kind")
}
