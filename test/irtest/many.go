package irtest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/test/irtest/epoch"
)

// Many runs a cheap property n times on all processors, an everyday run a hundredth of
// that, and prints how often and from which seed. Every run has a source of its own, so
// that the one that fails can be run again.
func Many(t *testing.T, n int, property func(*rand.Rand) error) {
	t.Helper()
	n = max(int(float64(n)*min(scale()*scale()*25, scale())), 100)
	for _, seed := range epoch.Seeds(t) {
		fmt.Printf("property %s: %d runs of 1 cases, seed %d\n", t.Name(), n, seed)
		many(t, n, seed, property)
	}
}

func many(t *testing.T, n int, seed uint64, property func(*rand.Rand) error) {
	t.Helper()
	var workers sync.WaitGroup
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1); i <= int64(n) && !t.Failed(); i = next.Add(1) {
				if err := property(epoch.Source(seed, uint64(i))); err != nil {
					t.Errorf("run %d of seed %d: %v", i, seed, err)
				}
			}
		})
	}
	workers.Wait()
}
