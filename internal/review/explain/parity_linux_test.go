package explain_test

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/ir"
)

// TestParityOfManyRules: the table costs in proportion to the rules. Cause: for each cell of it the rules of all rows of a
// ledger were searched, and backends searched all places for each cell and each place, so that 3,000 rules took a minute on a busy machine.
func TestParityOfManyRules(t *testing.T) {
	few, many := cost(t, 300), cost(t, 2400)
	t.Logf("%v for 300 rules, %v for 2,400", few, many)
	if many > 24*few { // it was 39
		t.Errorf("8 times the rules cost %.0f times the processor", float64(many)/float64(few))
	}
}

// cost is the least processor time of three tables of n rules.
func cost(t *testing.T, n int) time.Duration {
	tool := ir.NewTool("x")
	tool.FS, tool.Declared.FS = nil, true
	for i := range n {
		caps := ir.Caps(ir.Read)
		if i%3 == 0 {
			caps = ir.Caps(ir.Read, ir.Create, ir.Update, ir.Delete)
		}
		path := fmt.Sprintf("d%d/e%d", i%40, i)
		tool.FS = append(tool.FS, ir.FSRule{Written: path, At: ir.In(path), Caps: caps, Origin: ir.Origin{Layer: ir.LayerWorkspace}})
	}
	least := time.Duration(1 << 62)
	for range 3 {
		before := processor(t)
		p, err := explain.NewParity(tool, registry.Every, explain.Style{Width: 80})
		if err != nil {
			t.Fatal(err)
		}
		p.Text(explain.Style{Width: 80}, false)
		least = min(least, processor(t)-before)
	}
	return least
}

func processor(t *testing.T) time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano())
}
