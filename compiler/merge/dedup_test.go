package merge_test

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/compiler/merge"
)

// TestReplaceKeepsDedup: a list in place of the earlier lists says nothing about duplicates, so what they said still
// counts.
func TestReplaceKeepsDedup(t *testing.T) {
	got := over(list{After: []int{9}, Dedup: merge.On}, list{After: []int{1, 2, 1}, Replace: true})
	if got.Dedup != merge.On || !slices.Equal(got.Items(), []int{1, 2}) {
		t.Errorf("got %v, dedup %v", got.Items(), got.Dedup)
	}
}
