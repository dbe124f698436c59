package foreign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/irtest"
)

// TestApart: a pattern covers nothing at or below a path that it is said to be apart from.
func TestApart(t *testing.T) {
	parts := []string{"a", "A", "b", "ab", "*", "**", "a*", "?", "[a]", "\u00e4", "\u00c4", "k", "\u212a", "i", "\u0130"}
	draw := func(r *rand.Rand) string {
		var out strings.Builder
		for range 1 + r.IntN(3) {
			out.WriteString("/" + parts[r.IntN(len(parts))])
		}
		return out.String()
	}
	irtest.Many(t, 200_000, func(r *rand.Rand) error {
		p := NewPattern(draw(r))
		p.Fold, p.Plain = r.IntN(2) == 0, r.IntN(4) == 0
		abs := draw(r)
		if !p.apart(abs) {
			return nil
		}
		states := p.closure([]int{0})
		for _, name := range Split(abs) {
			if slices.Contains(states, len(p.Parts)) {
				break
			}
			states = p.step(states, name)
		}
		if len(states) > 0 {
			return fmt.Errorf("%v (fold %v, plain %v) is not apart from %s", p, p.Fold, p.Plain, abs)
		}
		return nil
	})
}

// TestApartIsCheap: long lists of patterns were compared with long lists of paths by taking both apart each time.
func TestApartIsCheap(t *testing.T) {
	for _, fold := range []bool{false, true} {
		p := NewPattern("/home/u/d1/**")
		p.Fold = fold
		n := testing.AllocsPerRun(100, func() {
			if p.Inside("/home/u/d2") != nil || p.Covers("/home/u/d2/x") || p.Covers("/etc") {
				t.Error("covers another directory")
			}
		})
		if n != 0 {
			t.Errorf("%v allocations for a pattern that is apart, case folded: %v", n, fold)
		}
	}
}
