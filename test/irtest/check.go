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
	"time"

	"pgregory.net/rapid"
)

// scale multiplies the number of checks of every property test. The environment
// variable ACCESSC_CHECKS sets it; task soak runs at 1, continuous integration at a
// quarter, an everyday run at a tenth.
func scale() float64 {
	if f, err := strconv.ParseFloat(os.Getenv("ACCESSC_CHECKS"), 64); err == nil && f > 0 {
		return f
	}
	return 0.1
}

// Times scales a count of rounds for tests that do not draw their cases.
func Times(n int) int { return max(int(float64(n)*scale()), 10) }

// keepNothing has rapid write no files about failures, which it would repeat in all later runs:
// the seed is enough, and a failure that depends on the host should not come first in a later
// run.
var keepNothing = sync.OnceValue(func() error { return flag.Set("rapid.nofailfile", "true") })

// Check runs a property n times, scaled, and prints the count and the seed. per is the number
// of cases that one run of the property covers.
func Check(t *testing.T, n, per int, property func(*rapid.T)) {
	t.Helper()
	n = Times(n)
	if err := keepNothing(); err != nil {
		t.Fatal(err)
	}
	given.Lock()
	seed := uint64(time.Now().UnixNano())
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() != "0" {
		seed, _ = strconv.ParseUint(f.Value.String(), 10, 64)
	}
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

// Happened checks that answers had each of some kinds. Few of them, as under the race detector,
// may lack a rare kind, so it asks for none of fewer than enough answers.
func Happened(t *testing.T, seen map[string]int, enough int, kinds ...string) {
	t.Helper()
	all := 0
	for _, n := range seen {
		all += n
	}
	for _, kind := range kinds {
		if seen[kind] == 0 && all >= enough {
			t.Errorf("%s never happened: %v", kind, seen)
		}
	}
}
