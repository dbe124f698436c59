package irtest

import (
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

// Tool generates a tool with random filesystem rules and the defaults otherwise.
func Tool(t *rapid.T, names []string, n int) *ir.Tool {
	tool := ir.NewTool("t")
	tool.FS, tool.Declared.FS = FSRules(t, names, n), true
	tool.Protects = rapid.IntRange(0, 7).Draw(t, "protects") == 0
	if tool.Protects && rapid.Bool().Draw(t, "further protected path") {
		tool.Protected = []ir.ProtectedPath{{Path: Path(t, names, 2), Why: "test"}}
	}
	return tool
}

// Place generates a place in the workspace, or now and then in one of the other
// roots.
func Place(t *rapid.T, names []string) ir.Location {
	switch rapid.IntRange(0, 9).Draw(t, "root") {
	case 0:
		return ir.Location{Root: ir.Root{Kind: ir.Home}, Path: Path(t, names, 2)}
	case 1:
		return ir.Location{Root: ir.Root{Kind: ir.Temp}, Path: Path(t, names, 2)}
	default:
		return ir.In(Path(t, names, 4))
	}
}

// Kind generates a kind of node.
func Kind(t *rapid.T, kinds ...ir.NodeKind) ir.NodeKind {
	return rapid.SampledFrom(kinds).Draw(t, "kind")
}
