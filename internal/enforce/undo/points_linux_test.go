//go:build accessc_points

package undo

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/internal/process/points/held"
)

// TestMain takes the latest run of a store back where the test of that has started this program again.
func TestMain(m *testing.M) {
	if dir := os.Getenv("UNDO_STORE"); dir != "" {
		if _, err := Store(dir).Undo(0, nil, false); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killed begins an undo in another process, and kills it when it is about to take a step for the nth time. It reports
// whether it came so far.
func (w *world) killed(t *testing.T, nth int) bool {
	t.Helper()
	h := held.New(t)
	stop := h.At(points.Undoing)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "UNDO_STORE="+string(w.store), h.Env())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range nth {
		stop.Reached(t).Release()
	}
	stop.Reached(t)
	err := cmd.Process.Kill()
	_ = cmd.Wait()
	return err == nil
}

// TestHeldUndo: an undo that is killed at any of its steps, and then again while the next takes back what it had done,
// leaves a tree that an undo brings back as it was. What it had done so far, and then only that, stayed for ever.
func TestHeldUndo(t *testing.T) {
	w := fixed(t)
	w.does(t)
	w.end(t)
	_, j, err := w.store.choose(1)
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{}
	now, err := survey(j, v)
	if err != nil {
		t.Fatal(err)
	}
	p := planFor(j, now, nil)
	steps := len(p.parks) + len(p.names) + len(p.files)
	if steps < 8 {
		t.Fatalf("%d steps", steps)
	}
	for first := range steps {
		for _, second := range []int{-1, 0, first / 2, first} {
			w := fixed(t)
			before := snapshot(t, w.dir)
			w.does(t)
			w.end(t)
			after := snapshot(t, w.dir)
			w.killed(t, first)
			if second >= 0 {
				w.killed(t, second) // as a rule in the recovery
			}
			release, err := w.store.lock()
			if err != nil {
				t.Fatal(err)
			}
			err = w.store.recover()
			release()
			if d := differences(after, snapshot(t, w.dir)); err != nil || len(d) > 0 {
				t.Fatalf("killed at %d, %d: %v\n%s", first, second, err, strings.Join(d, "\n"))
			}
			if _, err := w.store.Undo(1, nil, false); err != nil {
				t.Fatalf("killed at %d, %d, and then: %v", first, second, err)
			}
			if d := differences(before, snapshot(t, w.dir)); len(d) > 0 {
				t.Fatalf("killed at %d, %d:\n%s", first, second, strings.Join(d, "\n"))
			}
		}
	}
}
