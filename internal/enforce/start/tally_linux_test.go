package start_test

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/irtest"
)

// TestSupervised compares the answers of exec under random policies with Decide, as the user of
// the test and as one without any privilege. At full count it asks a million times.
func TestSupervised(t *testing.T) {
	t.Parallel()
	trees, least := 1, 0
	if irtest.Full() {
		trees, least = 4, 500_000
	}
	for _, counts := range asUsers(t, "kernel-supervised", 800, trees) {
		if !t.Failed() && counts.asked() < least {
			t.Errorf("expected %d operations, got %s", least, counts)
		}
		for _, kind := range kinds() {
			if !t.Failed() && counts.kinds[kind] == 0 && (irtest.Full() || irtest.Exact()) {
				t.Errorf("no %s was tried: %s", kind, counts)
			}
		}
	}
}

// asUsers tests random policies as each user.
func asUsers(t *testing.T, mode string, policies, trees int) []*tally {
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	base := workspace(t)
	var mu sync.Mutex
	var counts []*tally
	users(t, func(t *testing.T, who identity) {
		c := newTally()
		mu.Lock()
		counts = append(counts, c)
		mu.Unlock()
		testSupervised(t, filepath.Join(base, filepath.Base(t.Name())), who, mode, policies, trees, c)
	})
	return counts
}

func testSupervised(t *testing.T, base string, who identity, mode string, policies, trees int, counts *tally) {
	var runs atomic.Int64
	const per = 175
	irtest.Check(t, policies, trees*per, func(rt *rapid.T) {
		o := newSupervised(rt, base+fmt.Sprint(runs.Add(1)), who, counts)
		o.mode = mode
		o.run(trees, per)
	})
	fmt.Printf("property %s: %s\n", t.Name(), counts)
}

// kinds are the names of all operations.
func kinds() []string {
	all := slices.Concat(onAbsent, onFile, onDir, onNames, onNobody)
	slices.Sort(all)
	return slices.Compact(all)
}

// tally counts the operations that one user's workers tried.
type tally struct {
	kinds             map[string]int
	policies, trees   map[string]bool
	granted, stricter int
	// repeated counts operations on trees that an earlier worker under the same policy was
	// given; again is true while there is such a one.
	repeated int
	again    bool
	// byName counts the operations under policies with rules by name; named is true under such a policy.
	byName int
	named  bool
	// unread counts the operations that needed a descriptor that was refused.
	unread int
}

func newTally() *tally {
	return &tally{kinds: map[string]int{}, policies: map[string]bool{}, trees: map[string]bool{}}
}

// begin notes a policy and a tree.
func (c *tally) begin(o *supervised) {
	policy := fmt.Sprint(o.view.Tool.Net)
	c.named = false
	for _, r := range o.view.Tool.FS {
		policy += fmt.Sprint(r.At, r.Names, r.Caps)
		c.named = c.named || r.ByName()
	}
	tree := fmt.Sprint(policy, o.start, o.now)
	c.again = c.trees[tree]
	c.policies[policy], c.trees[tree] = true, true
}

func (c *tally) add(q asking, allowed bool) {
	switch {
	case c.again:
		c.repeated++
		return
	case allowed:
		c.granted++
	case q.verdict:
		c.stricter++
	}
	c.kinds[q.op]++
	if c.named {
		c.byName++
	}
}

func (c *tally) asked() int {
	n := 0
	for _, times := range c.kinds {
		n += times
	}
	return n
}

func (c *tally) String() string {
	rarest := slices.MinFunc(slices.Sorted(maps.Keys(c.kinds)), func(a, b string) int { return cmp.Compare(c.kinds[a], c.kinds[b]) })
	return fmt.Sprintf(
		"%d operations of %d kinds in %d spellings asked of the kernel, under %d policies on %d trees, "+
			"%d of them with rules by name: %d granted, %d refused, %d of these granted by the policy, as the ledger says; rarest %s, %d times; not counted: %d repeated, %d on what could not be opened",
		c.asked(), len(c.kinds), len(spellings), len(c.policies), len(c.trees),
		c.byName, c.granted, c.asked()-c.granted, c.stricter, rarest, c.kinds[rarest], c.repeated, c.unread,
	)
}
