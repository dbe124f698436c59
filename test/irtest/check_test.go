package irtest_test

import (
	"flag"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// TestNothingIsKept: a failure that rapid had saved was repeated by every later run, and hid
// new failures of that run.
func TestNothingIsKept(t *testing.T) {
	if epoch.Fresh() {
		t.Skip("a soak keeps failures")
	}
	irtest.Check(t, 10, 1, func(*rapid.T) {})
	if f := flag.Lookup("rapid.nofailfile"); f == nil || f.Value.String() != "true" {
		t.Error("rapid saves failures")
	}
}

// TestSameDraws: the seed was the clock, so that every run of the gate was another program.
func TestSameDraws(t *testing.T) {
	if !epoch.Fixed() {
		t.Skip("the seeds are not those of the epoch")
	}
	draws := func(name string) (drawn []int) {
		t.Run(name, func(t *testing.T) {
			irtest.Check(t, 1000, 1, func(t *rapid.T) { drawn = append(drawn, rapid.Int().Draw(t, "n")) })
		})
		return drawn
	}
	if slices.Equal(draws("a"), draws("b")) {
		t.Error("two tests draw the same")
	}
	if epoch.Rand(t).Uint64() != epoch.Rand(t).Uint64() {
		t.Error("a test has two seeds")
	}
}
