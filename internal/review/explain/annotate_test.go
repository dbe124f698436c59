package explain

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// TestEveryClassHasATitle: a result whose rule is missing makes a log invalid.
func TestEveryClassHasATitle(t *testing.T) {
	used := map[string]bool{}
	for k := compare.Grant; k <= compare.Calling; k++ {
		for _, r := range ir.Resources {
			for _, what := range []string{"read", "execute", "read execute"} {
				for _, c := range classes(compare.Difference{Kind: k, Resource: r, What: what, Wider: true}) {
					used[c] = true
				}
			}
		}
	}
	for c := range used {
		if !slices.ContainsFunc(kinds, func(k struct{ class, title, less string }) bool { return k.class == c }) {
			t.Errorf("%s has no title", c)
		}
	}
	for _, k := range kinds {
		if !used[k.class] {
			t.Errorf("nothing is %s", k.class)
		}
		if opposite.Replace(k.class) == k.class {
			t.Errorf("%s has no mirror image", k.class)
		}
	}
}
