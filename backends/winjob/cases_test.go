package winjob

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestEveryCellNamesItsCase: every statement of the ledger about tier 1 is unverified and names
// existing cases, except for those that Wine shows, grants while the tool runs and requirements that are not enforced.
func TestEveryCellNamesItsCase(t *testing.T) {
	irtest.Check(t, 300, 1, func(rt *rapid.T) {
		names := irtest.Names
		tool := genTool(rt, names)
		_, ledger, refusals := Build(tool, genTarget(rt, tool, names))
		if len(refusals) > 0 {
			return
		}
		for _, row := range ledger.On(ir.Windows, ir.BestTier) {
			shown := row.Is == ir.Unenforced || row.Is == ir.Supervised || slices.Contains(row.Aspects, ir.AspectAsk) ||
				row.Resource == ir.Commands && !slices.Contains(row.Aspects, ir.AspectProgram)
			if (row.Evidence != nil) == shown {
				rt.Fatalf("%s %v %v is %s: %q", row.Resource, row.Rules, row.Aspects, row.Is, row.Evidence)
			}
			for _, e := range row.Evidence {
				if name, ok := strings.CutPrefix(string(e), onWindows); !ok || !slices.Contains(Cases(), name) {
					rt.Fatalf("there is no case %q", e)
				}
			}
		}
	})
}

// TestDocumentedCases: the page on Windows lists every case, and no other.
func TestDocumentedCases(t *testing.T) {
	page, err := os.ReadFile("../../docs/platforms/windows.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), "\n## Unverified\n")
	if !ok {
		t.Fatal("the page has no such section")
	}
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(section, -1) {
		got = append(got, m[1])
	}
	slices.Sort(got)
	if !slices.Equal(got, Cases()) {
		t.Errorf("the page has %v\nthere are %v", got, Cases())
	}
}
