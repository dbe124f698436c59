package landlock_test

import (
	"testing"

	"github.com/accessc/accessc/backends/landlock"
)

// TestHandled: at each level exactly the rights of that level and of those before it are handled. A right that is
// not handled is not denied.
func TestHandled(t *testing.T) {
	for abi := range landlock.MaxABI + 1 {
		all := landlock.Handled(landlock.Levels(), abi)
		for _, l := range landlock.Levels() {
			one := landlock.Handled([]landlock.Level{l}, l.ABI)
			for _, m := range [][2]uint64{{all.FS, one.FS}, {all.Net, one.Net}, {all.Scoped, one.Scoped}} {
				if want := map[bool]uint64{true: m[1]}[l.ABI <= abi]; m[0]&m[1] != want {
					t.Errorf("at level %d %b of the rights %b of level %d are handled", abi, m[0]&m[1], m[1], l.ABI)
				}
			}
			if len(l.FS)+len(l.Net)+len(l.Scoped) > 0 && one == (landlock.Masks{}) {
				t.Errorf("level %d has rights and handles none", l.ABI)
			}
		}
	}
}
