package approvals

import (
	"slices"
	"testing"
)

// TestDurable: an approval is on the disk before its file takes the place of the old one, and the new name is before
// anybody is told.
func TestDurable(t *testing.T) {
	v := &faulty{}
	if _, err := update(v, newStore(t, `{"mounts": []}`), approve("b", "/b")); err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, call := range []string{"create", "write", "sync", "close", "rename", "sync directory"} {
		next := slices.Index(v.log, call)
		if next <= at {
			t.Errorf("%s is missing, or too early: %v", call, v.log)
		}
		at = next
	}
}
