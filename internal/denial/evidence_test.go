package denial

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/accessc/accessc/ir"
)

// granted is a use of a place that a rule of the workspace grants.
func granted(at ir.Location, layer ir.Layer) *Denial {
	rule := &ir.FSRule{At: ir.In(""), Caps: ir.Caps(ir.Read), Origin: ir.Origin{Layer: layer}}
	return &Denial{
		By: ByPolicy, Operation: ir.Access{Cap: ir.Read, On: ir.Direct(at)}, Wants: ir.Caps(ir.Read), Roots: roots,
		Verdict: ir.Verdict{Effect: ir.Allow, Rule: rule},
	}
}

// TestEvidence: uses are counted by operation; those that the base and the private directories
// grant are left out; and the document stays within its size and says how much it lacks.
func TestEvidence(t *testing.T) {
	l := NewLog(nil)
	l.Observe()
	for range 3 {
		l.Use(granted(ir.In("src/a"), ir.LayerWorkspace))
	}
	l.Use(granted(ir.Sys("usr/lib/x"), ir.LayerBase))
	l.Use(granted(ir.Location{Root: ir.Root{Kind: ir.Home}, Path: "x"}, ir.LayerWorkspace))
	read := func() (e Evidence) {
		text := l.Evidence(Evidence{Command: []string{"sh"}}, time.Now())
		if err := json.Unmarshal(text, &e); err != nil || len(text) > MaxEvidence {
			t.Fatalf("%d bytes: %v", len(text), err)
		}
		return e
	}
	e := read()
	if len(e.Used) != 1 || e.Used[0].Times != 3 || strings.Join(e.Used[0].Question, " ") != "read /ws/src/a" || e.UsedLeftOut != 0 {
		t.Errorf("%+v", e)
	}
	for _, own := range []string{ir.LinuxShared, ir.LinuxProc} {
		d := granted(ir.Sys(own+"/x"), ir.LayerBase)
		d.Verdict.Rule.(*ir.FSRule).At = ir.Sys(own)
		l.Use(d)
	}
	if e = read(); len(e.Used) != 1 || strings.Join(e.Served, "; ") != "read /dev/shm/x; read /proc/self/x" {
		t.Errorf("%+v", e)
	}
	moved := granted(ir.In("app"), ir.LayerWorkspace)
	moved.Operation = ir.Rename{Src: ir.Direct(ir.Location{Root: ir.Root{Kind: ir.Home}, Path: "a.out"}), Dst: ir.Direct(ir.In("app"))}
	l.Use(moved)
	if e = read(); len(e.Used) != 2 || strings.Join(append(e.Used[1].Question, e.Used[1].Needs...), " ") != "create /ws/app create update" {
		t.Errorf("%+v", e)
	}
	long := strings.Repeat("x", 700)
	for i := range maxUsed + 5 {
		l.Use(granted(ir.In(fmt.Sprintf("src/%d/%s", i, long)), ir.LayerWorkspace))
	}
	if e = read(); len(e.Used)+e.UsedLeftOut != maxUsed+4+5-2 || e.UsedLeftOut < 5 || len(e.Used) < 100 {
		t.Errorf("%d used, %d left out", len(e.Used), e.UsedLeftOut)
	}
}
