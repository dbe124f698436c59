// Package irtest is shared by the property tests of several packages: the runner that prints
// count and seed, and generators of policies and operations. It is imported by tests only.
package irtest

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest/epoch"
)

// gate is the scale of the gate, go test without further words.
const gate = 0.02

// scale multiplies the number of checks of every property test. The environment
// variable ACCESSC_CHECKS sets it; task soak runs at 1.
func scale() float64 {
	if f, err := strconv.ParseFloat(os.Getenv("ACCESSC_CHECKS"), 64); err == nil && f > 0 {
		return f
	}
	return gate
}

// Times scales a count of rounds for tests that do not draw their cases.
func Times(n int) int { return max(int(float64(n)*scale()), 10) }

// keeps tells rapid whether it writes the smallest failing case of a property into testdata/rapid, from where every
// later run of the property replays it first. Only a soak does: a seed of the epoch fails again by itself.
var keeps = sync.OnceValue(func() error { return flag.Set("rapid.nofailfile", strconv.FormatBool(!epoch.Fresh())) })

// Check runs a property n times, scaled, and prints the count and the seed. per is the number
// of cases that one run of the property covers.
func Check(t *testing.T, n, per int, property func(*rapid.T)) {
	t.Helper()
	n = Times(n)
	if err := keeps(); err != nil {
		t.Fatal(err)
	}
	seed := max(epoch.Seed(t), 1) // 0 means a seed by the clock to rapid
	given.Lock()
	set := func(name, value string) func() {
		old := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		return func() { _ = flag.Set(name, old) }
	}
	checks, seeds := set("rapid.checks", strconv.Itoa(n)), set("rapid.seed", strconv.FormatUint(seed, 10))
	begun := sync.OnceFunc(func() {
		checks()
		seeds()
		given.Unlock()
	})
	defer begun()
	fmt.Printf("property %s: %d runs of %d cases, seed %d\n", t.Name(), n, per, seed)
	rapid.Check(t, func(t *rapid.T) {
		begun()
		property(t)
	})
}

// given is locked while rapid's flags are those of one property, so that several may run at a
// time: it reads both before it first runs a property.
var given sync.Mutex

// Full reports whether properties run at their full count.
func Full() bool { return scale() >= 1 }

// Rounds scales a number of rounds that are no property of rapid's, and prints it.
func Rounds(t *testing.T, n int) int {
	t.Helper()
	n = max(int(float64(n)*scale()), 10)
	fmt.Printf("property %s: %d rounds\n", t.Name(), n)
	return n
}

// Exact reports whether this run draws what every run of this commit draws in the gate, so that a test may
// demand of its counts whatever holds once.
func Exact() bool { return epoch.Fixed() && scale() == gate }

// Happened checks that answers had each of some kinds. The seeds of the gate decide it once and for all. With
// other seeds or another count it is printed alone: a test has to make what it cannot do without.
func Happened(t *testing.T, seen map[string]int, kinds ...string) {
	t.Helper()
	for _, kind := range kinds {
		switch {
		case seen[kind] > 0:
		case Exact():
			t.Errorf("%s never happened: %v", kind, seen)
		default:
			fmt.Printf("kinds %s: no %s\n", t.Name(), kind)
		}
	}
}

// Race runs rounds of a race until it has been met a number of times, or all rounds are over, and prints which.
// A round says whether the race was met; what must never happen, it asserts itself. That the scheduler lets no round
// meet is no failure but in a soak.
func Race(t *testing.T, met, rounds int, round func(i int) (hit bool)) {
	t.Helper()
	hits, i := 0, 0
	for ; i < rounds && hits < met && !t.Failed(); i++ {
		if round(i) {
			hits++
		}
	}
	verdict := "met"
	if hits < met {
		verdict = "inconclusive"
	}
	fmt.Printf("race %s: %s, %d of %d in %d rounds\n", t.Name(), verdict, hits, met, i)
	if hits == 0 && epoch.Fresh() && !t.Failed() {
		t.Errorf("never met in %d rounds", i)
	}
}
