package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/hostfacts"
	"github.com/accessc/accessc/internal/userdir"
	"github.com/accessc/accessc/ir"
)

// TestAccepted: each case accepts the gaps that its policy has on macOS, and no others. Cause: four
// cases stopped there before the tool's start, since a gap was not accepted.
func TestAccepted(t *testing.T) {
	all, err := names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		c, err := load(name, "darwin")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		ws := filepath.Join(dir, "ws")
		expand := strings.NewReplacer("$PROBE", "bin/probe", "$PORT", "1", "$OTHER", "2").Replace
		if err := c.lay(ws, "/bin/true", expand); err != nil {
			t.Fatal(err)
		}
		res, err := hostfacts.Compile(hostfacts.Options{Options: compiler.Options{Root: ws}, Resolve: true, State: userdir.Dir(filepath.Join(dir, "state"))})
		if err != nil || res.Program == nil {
			t.Fatalf("%s: %v %v", name, err, res.Findings)
		}
		tool, _ := res.Program.Tool("probe")
		b := ir.Bindings{Workspace: "/Users/u/w", Home: "/Users/u/h"}
		out, err := seatbelt.Backend{}.Compile(tool, backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &b}})
		if err != nil {
			t.Fatal(err)
		}
		var gaps []string
		for _, row := range out.Ledger {
			if gap := string(row.Gap); !row.Is.Held() && !slices.Contains(gaps, gap) {
				gaps = append(gaps, gap)
			}
		}
		slices.Sort(gaps)
		accepts := slices.Clone(c.accept)
		slices.Sort(accepts)
		if !slices.Equal(gaps, accepts) {
			t.Errorf("%s has the gaps %v and accepts %v", name, gaps, accepts)
		}
	}
}
