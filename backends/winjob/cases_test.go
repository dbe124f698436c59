package winjob

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
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

// TestEveryCaseIsNamed: some row names each case, and has each cause that a case is of, so none is run for nothing.
func TestEveryCaseIsNamed(t *testing.T) {
	cases, causes := map[ir.Evidence]bool{}, map[ir.CauseID]bool{}
	look := func(tool *ir.Tool, target backends.Target) {
		_, ledger, refusals := Build(tool, target)
		for _, row := range ledger.On(ir.Windows, ir.BestTier) {
			for _, e := range row.Evidence {
				cases[e] = len(refusals) == 0 || cases[e]
			}
			for _, c := range row.Causes {
				causes[c.ID] = len(refusals) == 0 || causes[c.ID]
			}
		}
	}
	tool := toolWith(t, "c?: read")
	tool.Net = []ir.NetRule{{Host: ir.Host{Kind: ir.HostAny}, Port: 443, Allow: true}, {Listen: true, Host: ir.Host{Kind: ir.HostAny}, Port: 80, Allow: true}}
	tool.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: 1}}
	look(tool, backends.Target{Form: backends.Portable})
	// The generators of random tools, with fixed seeds.
	drawn := rapid.Custom(func(rt *rapid.T) func() {
		tool := genTool(rt, irtest.Names)
		target := genTarget(rt, tool, irtest.Names)
		return func() { look(tool, target) }
	})
	for seed := range 100 {
		drawn.Example(seed)()
	}
	for _, name := range Cases() {
		if !cases[ir.Evidence(onWindows+name)] {
			t.Errorf("no row names the case %s", name)
		}
	}
	for why := range casesOfCauses() {
		if !causes[why] {
			t.Errorf("no row has the cause %s", why)
		}
	}
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
