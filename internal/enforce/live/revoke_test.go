package live

import (
	"slices"
	"testing"
)

// TestRevokeOne: a revocation takes the one grant back, and leaves those that were given before and after it.
func TestRevokeOne(t *testing.T) {
	s := fixture(nil)
	var ids []int
	for _, path := range []string{"secrets/a", "secrets/b", "secrets/c"} {
		q, result := waiting(t, s, always, reading(path))
		answer(t, s, q.ID, Run)
		if again, _ := result(); !again {
			t.Fatalf("%s is refused", path)
		}
		ids = append(ids, q.ID)
	}
	if err := s.Revoke(ids[1]); err != nil {
		t.Fatal(err)
	}
	var left []int
	for _, g := range s.Grants() {
		left = append(left, g.ID)
	}
	if !slices.Equal(left, []int{ids[0], ids[2]}) {
		t.Errorf("the grants %v are in force of %v", left, ids)
	}
	for path, want := range map[string]bool{"secrets/a": true, "secrets/b": false, "secrets/c": true} {
		if s.View().Decide(reading(path)).Allowed() != want {
			t.Errorf("%s: want %v", path, want)
		}
	}
}
