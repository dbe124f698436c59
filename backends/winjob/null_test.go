package winjob

import "testing"

// TestNoListHoldsNothing: an object without an access list is open to everybody, so it holds no list that was set,
// also none without an entry.
func TestNoListHoldsNothing(t *testing.T) {
	for _, set := range []List{{}, {Protected: true}} {
		if (List{Null: true, Protected: true}).Holds(set, someRun) {
			t.Errorf("no list holds %s", set)
		}
	}
}
