package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt"
	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// targets are the systems whose gaps are computed here, with a host on each.
var targets = map[string]struct {
	backend  backends.Backend
	bindings ir.Bindings
}{
	"darwin":  {seatbelt.Backend{}, ir.Bindings{Workspace: "/Users/u/w", Home: "/Users/u/h"}},
	"windows": {winjob.Backend{}, ir.Bindings{Workspace: "C:/Users/u/w", Home: "C:/Users/u/h"}},
}

// ledgerOf is the ledger of a tool on the hosted machines of a system.
func ledgerOf(t *testing.T, tool *ir.Tool, system string) ir.Ledger {
	t.Helper()
	b := targets[system].bindings
	out, err := targets[system].backend.Compile(tool, backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &b}})
	if err != nil || len(out.Refusals) > 0 {
		t.Fatal(err, out.Refusals)
	}
	return out.Ledger.On(targets[system].backend.Platform(), bestOf[system])
}

// gaps lists the names that a tool needs accepted on a system.
func gaps(t *testing.T, tool *ir.Tool, system string) []string {
	t.Helper()
	var gaps []string
	for _, row := range ledgerOf(t, tool, system) {
		if gap := string(row.Gap); !row.Is.Held() && !slices.Contains(gaps, gap) {
			gaps = append(gaps, gap)
		}
	}
	slices.Sort(gaps)
	return gaps
}

// bestOf is the level of the hosted machines of a system.
var bestOf = map[string]int{"darwin": 0, "windows": ir.BestTier}

// TestAccepted: each case accepts the gaps that its policy has on macOS and on Windows, and no others,
// so that the tool starts. Cause: four cases stopped on macOS before that, and all on Windows.
func TestAccepted(t *testing.T) {
	all, err := names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		for system := range targets {
			accepted(t, name, system)
		}
	}
}

func accepted(t *testing.T, name, system string) {
	t.Helper()
	c, err := load(name, system)
	if err != nil {
		t.Fatal(err)
	}
	gaps := gaps(t, probeTool(t, c), system)
	accepts := slices.Clone(c.accept)
	slices.Sort(accepts)
	if !slices.Equal(gaps, accepts) {
		t.Errorf("%s on %s has the gaps %v and accepts %v", name, system, gaps, accepts)
	}
}

// probeTool compiles the policy of a case.
func probeTool(t *testing.T, c *testCase) *ir.Tool {
	t.Helper()
	dir := t.TempDir()
	ws := filepath.Join(dir, "ws")
	expand := strings.NewReplacer("$PROBE", "bin/probe", "$PORT", "1", "$OTHER", "2").Replace
	if err := c.lay(ws, "/bin/true", expand); err != nil {
		t.Fatal(err)
	}
	res, err := hostfacts.Compile(hostfacts.Options{Options: compiler.Options{Root: ws}, Resolve: true, State: userdir.Dir(filepath.Join(dir, "state"))})
	if err != nil || res.Program == nil {
		t.Fatalf("%s: %v %v", c.name, err, res.Findings)
	}
	tool, ok := res.Program.Tool("probe")
	if !ok {
		t.Fatalf("%s has no tool probe", c.name)
	}
	return tool
}
