package supervisor

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
)

// testMark is the mark of a run.
var testMark = mark{widths[0], 2*widths[0] - 1}

// grow makes a tree of domains without rulesets.
func grow(t *rapid.T) []*domain {
	all := []*domain{&newDomains(testMark).root}
	for range rapid.IntRange(1, 40).Draw(t, "domains") {
		// The last one often, so that the tree grows deep.
		at := max(0, rapid.IntRange(-len(all), len(all)-1).Draw(t, "above"))
		if rapid.Bool().Draw(t, "last") {
			at = len(all) - 1
		}
		if next := all[at].below(nil); next != nil {
			all = append(all, next)
		}
	}
	return all
}

func (d *domain) under(other *domain) bool {
	for ; d != nil; d = d.above {
		if d == other {
			return true
		}
	}
	return false
}

// TestMarks: a process that lowers its limits can only take the marks of domains below its own,
// and a process that was never marked shows none.
func TestMarks(t *testing.T) {
	irtest.Check(t, 2000, 1, func(rt *rapid.T) {
		all := grow(rt)
		for _, from := range all {
			for _, to := range all {
				a, b := from.mark.carriers(), to.mark.carriers()
				reachable := b[0].hard <= a[0].hard && b[1].hard <= a[1].hard
				if reachable != to.under(from) || from.mark.holds(to.mark) != reachable {
					rt.Fatalf("from %v to %v: %v", from.mark, to.mark, reachable)
				}
			}
			for _, c := range from.mark.carriers() {
				if from.above != nil && c.hard >= whole {
					rt.Fatalf("%v shows as none", from.mark)
				}
			}
		}
	})
}

// TestMarksEnd: the number of rulesets in a chain and of domains below a domain is bounded.
func TestMarksEnd(t *testing.T) {
	d := &newDomains(testMark).root
	for range len(widths) - 1 {
		if d = d.below(nil); d == nil {
			t.Fatal("not as deep as there are widths")
		}
	}
	if d.below(nil) != nil {
		t.Error("deeper than there are widths")
	}
	n := 0
	for d.above.below(nil) != nil {
		n++
	}
	if n == 0 || n > 1<<4 {
		t.Errorf("%d domains in an interval of 16", n)
	}
}

// TestMarkOfProcess: a mark is put on a process, read again and inherited by its children. A
// domain without a process is dropped unless a domain below it has one.
func TestMarkOfProcess(t *testing.T) {
	run := NewMark()
	if run == nil {
		t.Skip("limits are lowered already, or there is no kcmp(2)")
	}
	cmd := exec.Command("sh", "-c", "read x; sleep 60 & echo $!; wait")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	d := newDomains(run.mark)
	ruleset, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer ruleset.Close()
	var made []*domain
	above := &d.root
	for range 3 {
		above = above.below(ruleset)
		made, d.by[above.mark] = append(made, above), above
	}
	if _, marked, err := markOf(cmd.Process.Pid); marked || err != nil {
		t.Errorf("marked before: %v", err)
	}
	if err := made[1].mark.put(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Write([]byte("\n"))
	buf := make([]byte, 16)
	_, _ = out.Read(buf)
	for _, pid := range append([]int{cmd.Process.Pid}, children(cmd.Process.Pid)...) {
		if got, ok := d.of(pid); !ok || got != made[1] {
			t.Errorf("process %d is in %v, %v", pid, got, ok)
		}
		defer func() { _ = unix.Kill(pid, unix.SIGKILL) }()
	}
	d.collect()
	if len(d.by) != 2 || d.by[made[0].mark] == nil || d.by[made[2].mark] != nil {
		t.Errorf("kept %d", len(d.by))
	}
	delete(d.by, made[1].mark)
	if _, ok := d.of(cmd.Process.Pid); ok {
		t.Error("an unknown mark is that of a domain")
	}
}
