package start

import (
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestRecordSaysWhatIsHeld: the cells that a record calls not enforced are those that the start
// needed accepted, and every other one that has something to enforce names its means.
func TestRecordSaysWhatIsHeld(t *testing.T) {
	t.Parallel()
	irtest.Check(t, 5000, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 4)
		for k := ir.LimitMemory; k <= ir.LimitFileSize; k++ {
			if rapid.Bool().Draw(rt, k.String()) {
				tool.Limits = append(tool.Limits, ir.Limit{Kind: k, Value: 1 << 20})
			}
		}
		spec, ledger, err := landlock.Build(tool, backends.Target{Form: backends.Resolved})
		if err != nil {
			rt.Fatal(err)
		}
		h := Host{ABI: rapid.IntRange(1, landlock.MaxABI).Draw(rt, "abi"), Supervises: rapid.Bool().Draw(rt, "supervises")}
		g := &group{}
		if rapid.Bool().Draw(rt, "delegated") {
			h.Groups = []string{"memory", "pids"}
			g.kinds = []string{ir.LimitMemory.String(), ir.LimitProcesses.String()}
		}
		req := Request{Spec: spec, Messages: io.Discard, Record: &Recording{Ledger: ledger}}
		for _, a := range ir.Gaps() {
			if rapid.Bool().Draw(rt, string(a)) {
				req.Accept = append(req.Accept, string(a))
			}
		}
		terms, err := settle(&req, h)
		if err != nil {
			return
		}
		s := newStarting(&run{req: &req, settled: settled{spec: spec, abi: h.ABI, terms: terms}})
		s.limits.group = g
		unenforced := map[string]bool{}
		for _, c := range s.records.document(s.begun).Cells {
			if !c.Held {
				unenforced[c.Gap] = true
			}
			nothing := c.Resource == "commands" && tool.Commands == nil
			if c.Held && !nothing && len(c.Means) == 0 {
				rt.Fatalf("enforced by nothing: %+v", c)
			}
			if !c.Held && c.Gap == "" || !slices.Contains(terms.accepted, c.Gap) && !c.Held {
				rt.Fatalf("not enforced and not accepted (%v): %+v", terms.accepted, c)
			}
		}
		for _, a := range terms.accepted {
			if !unenforced[a] {
				rt.Fatalf("%s was accepted and is recorded as held", a)
			}
		}
	})
}
