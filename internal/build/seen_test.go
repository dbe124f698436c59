package build

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/internal/evidence"
	"github.com/accessc/accessc/ir"
)

// TestSeenRows: a row names the machines on which all its tests have passed, and none without.
func TestSeenRows(t *testing.T) {
	ledger := ir.Ledger{
		{Resource: ir.FS, Rules: []ir.RuleID{"fs[0]"}, Aspects: []ir.Aspect{ir.AspectRead, ir.AspectUpdate}, Platform: ir.Darwin, Held: ir.Held{Is: ir.Exact}},
		{Resource: ir.FS, Rules: []ir.RuleID{"fs[0]"}, Aspects: []ir.Aspect{ir.AspectMove}, Platform: ir.Darwin, Held: ir.Held{Is: ir.Exact}},
		{Resource: ir.FS, Rules: []ir.RuleID{"fs[0]"}, Aspects: []ir.Aspect{ir.AspectRead}, Platform: ir.Linux, Held: ir.Held{Is: ir.Exact}},
	}
	d := &evidence.Document{Runs: []evidence.Run{{
		Platform: "darwin", System: "macOS 26.1", Build: "25B78", Arch: "arm64", Passed: []string{"conformance/fs-read", "conformance/fs-update"},
	}}}
	for i, want := range [][]string{{"macOS 26.1 (25B78, arm64)"}, nil, nil} {
		if got := rows(ledger, d)[i].Seen; !slices.Equal(got, want) {
			t.Errorf("%d: got %q, want %q", i, got, want)
		}
	}
	for _, r := range rows(ledger, &evidence.Document{}) {
		if r.Seen != nil {
			t.Errorf("seen nowhere, and on %q", r.Seen)
		}
	}
}
