package main

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/artifact/evidence"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
)

// TestSeenOn: doctor names the machines of its system on which the ledger was tried, or says that
// there is none.
func TestSeenOn(t *testing.T) {
	d := &evidence.Document{Runs: []evidence.Run{{Platform: "darwin", System: "macOS 26.1", Build: "25B78", Arch: "arm64", Passed: []string{"a"}, Failed: []string{"b", "c"}}}}
	for p, want := range map[ir.Platform]start.Finding{
		ir.Darwin:  {Name: "evidence", State: start.Present, Detail: "macOS 26.1 (25B78, arm64): 1 passed, 2 failed"},
		ir.Windows: {Name: "evidence", State: start.Partial, Detail: "no claim"},
	} {
		if got := seenOn(p, d); got.Name != want.Name || got.State != want.State || !strings.Contains(got.Detail, want.Detail) {
			t.Errorf("%v: got %+v", p, got)
		}
	}
}
