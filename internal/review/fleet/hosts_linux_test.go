package fleet

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestHeldAsStarted: the gaps that a report tells of a host are those for which the loader would refuse a start there.
func TestHeldAsStarted(t *testing.T) {
	gaps := map[string]int{}
	irtest.Check(t, 600, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Names, 4)
		tool.Net = irtest.NetRules(rt, 3)
		tool.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: 1 << 30}, {Kind: ir.LimitProcesses, Value: 9}}
		h := &Host{platform: ir.Linux, Report: start.Report{
			System: "Linux 6.1 on x86_64", Landlock: rapid.IntRange(0, landlock.MaxABI+1).Draw(rt, "abi"),
			Findings: []start.Finding{
				{Name: "supervision", State: rapid.SampledFrom([]start.State{start.Present, start.Partial}).Draw(rt, "supervision")},
				{Name: "cgroup v2 delegation", State: rapid.SampledFrom([]start.State{start.Present, start.Partial}).Draw(rt, "cgroup")},
			},
		}}
		_, h.means = h.Report.Means()
		out, findings, err := build.Compile(tool, registry.All, backends.Target{Form: backends.Portable})
		if err != nil || findings.Failed() {
			rt.Skip("a backend refuses it")
		}
		spec, err := landlock.Parse(out.Files[landlock.Backend{}.File()])
		if err != nil {
			rt.Fatal(err)
		}
		unmet, err := start.Unmet(spec, h.means)
		if err != nil {
			rt.Fatal(err)
		}
		var want []string
		for _, g := range unmet {
			if g.Name != "" {
				want = append(want, string(g.Name))
				gaps[string(g.Name)]++
			}
		}
		slices.Sort(want)
		var all []backends.Row
		for _, r := range out.Ledger {
			if r.Platform != 0 {
				all = append(all, backends.NewRow(r))
			}
		}
		got, err := h.gaps(needsOf(all))
		if err != nil || !slices.Equal(got, want) {
			rt.Fatalf("got %q, %v; the loader misses %q", got, err, want)
		}
	})
	if len(gaps) < 4 {
		t.Errorf("too few gaps were met: %v", gaps)
	}
}
