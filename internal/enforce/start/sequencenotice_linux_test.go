package start_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// TestSequencesNotice: where the verdicts of one kind are inverted, the sequences fail, so they
// would notice a supervisor that has them wrong.
func TestSequencesNotice(t *testing.T) {
	t.Parallel()
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	needsFiles(t)
	kinds := allJudged()
	if testing.Short() || sequenceScale() < 1 {
		kinds = []string{"rename", "start"}
	}
	base := workspace(t)
	seed := epoch.Seed(t)
	fmt.Printf("property %s: seed %d, %d kinds\n", t.Name(), seed, len(kinds))
	for _, kind := range kinds {
		if n := noticed(t, filepath.Join(base, kind), seed, kind); n < 0 {
			t.Errorf("wrong verdicts of %s are not noticed", kind)
		}
	}
}

// allJudged are the kinds of the tool's operations that the policy is asked about.
func allJudged() []string {
	out := slices.Concat(opsOfFile, opsOfKept, opsToMake, opsToMove, opsStarts, opsRemove, []string{"chmod", "chown", "utimes", "lutimes", "race read", "race start", "race create"})
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(op string) bool {
		return op == "stat" || op == "linkempty" // nothing is judged, or nothing is done
	})
}

// noticed is the number of the run that fails while a kind's verdicts are flipped, negative
// for none.
func noticed(t *testing.T, base string, seed uint64, kind string) int {
	const runs = 30
	for run := range runs {
		s, err := newSequence(base+strconv.Itoa(run), nil, epoch.Source(seed, uint64(run)), newSequenceTally())
		if err != nil {
			t.Fatal(err)
		}
		s.flipped, s.turn = kind, run*roundsOfRun
		if err = s.begin(t); err != nil {
			t.Fatal(err)
		}
		for range roundsOfRun {
			if err = s.round(); err != nil {
				break
			}
		}
		s.end()
		switch {
		case errors.Is(err, errLeak) || errors.Is(err, errStrict):
			return run
		case err != nil:
			t.Fatal(err)
		}
	}
	return -1
}
