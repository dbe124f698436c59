package compiled

import (
	"os"
	"syscall"
	"testing"
)

// TestAsManyOtherGroups: an entry counts for the groups of its compilation, and for no others of the same number.
func TestAsManyOtherGroups(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, which may change its groups")
	}
	old, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setgroups(old) })
	said := map[string][]int{}
	for _, groups := range [][]int{{4001, 4002}, {4001, 4003}, {4002}, {4003}} {
		if err := syscall.Setgroups(groups); err != nil {
			t.Fatal(err)
		}
		if other, twice := said[asker()]; twice {
			t.Errorf("the groups %v are as %v", groups, other)
		}
		said[asker()] = groups
	}
}
