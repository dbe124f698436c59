package build

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/internal/artifact/evidence"
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
		Platform: "darwin", System: "macOS 26.1", Build: "25B78", Arch: "arm64",
		Passed: []string{"conformance/fs-read", "conformance/fs-update", "conformance/mac-case", "conformance/mac-clone", "conformance/mac-unicode"},
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

// TestEvidenceOfRows: a row cites a case that asks about it, and none otherwise. Cause: rows about other limits, about grants
// during a run and about cells that nothing holds cited cases that show something else.
func TestEvidenceOfRows(t *testing.T) {
	openFiles, memory := ir.Limit{Kind: ir.LimitOpenFiles}.ID(), ir.Limit{Kind: ir.LimitMemory}.ID()
	best := ir.Levels{From: ir.BestTier, To: ir.BestTier}
	for name, c := range map[string]struct {
		row  ir.Row
		want []string
	}{
		"a capability": {ir.Row{Resource: ir.FS, Aspects: []ir.Aspect{ir.AspectRead}, Platform: ir.Darwin, Held: ir.Held{Is: ir.Exact}}, []string{"conformance/fs-read"}},
		"nothing":      {ir.Row{Resource: ir.FS, Aspects: []ir.Aspect{ir.AspectRead}, Platform: ir.Darwin, Held: ir.Held{Is: ir.Unenforced}}, nil},
		"a grant":      {ir.Row{Resource: ir.FS, Aspects: []ir.Aspect{ir.AspectAsk}, Platform: ir.Darwin, Held: ir.Held{Is: ir.Stricter}}, nil},
		"open files":   {ir.Row{Resource: ir.Limits, Rules: []ir.RuleID{openFiles}, Aspects: []ir.Aspect{"limit"}, Platform: ir.Darwin, Held: ir.Held{Is: ir.Exact}}, []string{"conformance/limits-limit"}},
		"another limit": {
			ir.Row{Resource: ir.Limits, Rules: []ir.RuleID{openFiles, memory}, Aspects: []ir.Aspect{"limit"}, Platform: ir.Darwin, Held: ir.Held{Is: ir.Exact}}, nil,
		},
		"listening": {ir.Row{Resource: ir.Net, Aspects: []ir.Aspect{ir.AspectListen, ir.AspectConnect}, Platform: ir.Windows, Levels: best, Held: ir.Held{Is: ir.Stricter}}, []string{"conformance/net-connect"}},
		"tier 0":    {ir.Row{Resource: ir.Env, Aspects: []ir.Aspect{ir.AspectForward}, Platform: ir.Windows, Held: ir.Held{Is: ir.Exact}}, nil},
		"a cause": {
			ir.Row{Resource: ir.FS, Rules: []ir.RuleID{"fs[0]"}, Aspects: []ir.Aspect{ir.AspectMetadata}, Platform: ir.Darwin, Held: ir.Because(ir.Stricter, "", start.WhySetID)},
			[]string{"conformance/fs-metadata", "conformance/mac-set-id", "conformance/mac-times"},
		},
		"a rule's place": {
			ir.Row{Resource: ir.FS, Rules: []ir.RuleID{"home"}, Aspects: []ir.Aspect{ir.AspectMove}, Platform: ir.Darwin, Held: ir.Held{Is: ir.Exact}},
			[]string{"conformance/fs-move", "conformance/mac-swap"},
		},
		"no rule's": {
			ir.Row{Resource: ir.FS, Rules: []ir.RuleID{ir.BaseRule, ir.DefaultRule}, Aspects: []ir.Aspect{ir.AspectMove}, Platform: ir.Darwin, Held: ir.Held{Is: ir.Exact}},
			[]string{"conformance/fs-move"},
		},
		"on Windows": {
			ir.Row{Resource: ir.FS, Rules: []ir.RuleID{"home"}, Aspects: []ir.Aspect{ir.AspectMove}, Platform: ir.Windows, Levels: best, Held: ir.Held{Is: ir.Exact}},
			[]string{"conformance/fs-move"},
		},
	} {
		if got := rows(ir.Ledger{c.row}, &evidence.Document{})[0].Evidence; !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
