//go:build unix

package compiled

import (
	"os"
	"testing"
)

// TestPermissions: an entry is used only where nobody else may read or write it, nor its directory, whichever of the
// permissions of a group and of others is the one too many.
func TestPermissions(t *testing.T) {
	h := newHost(t)
	h.keep()
	dir := h.state().Compiled()
	for file, own := range map[string]os.FileMode{h.entry(): 0o600, dir: 0o700} {
		for more := os.FileMode(1); more <= 0o77; more++ {
			if err := os.Chmod(file, own|more); err != nil {
				t.Fatal(err)
			}
			if _, ok := Load(h.key); ok {
				t.Errorf("an entry was used although %s has the mode %o", file, own|more)
			}
		}
		if err := os.Chmod(file, own); err != nil {
			t.Fatal(err)
		}
		if _, ok := Load(h.key); !ok {
			t.Fatalf("no entry was used with %s of the mode %o", file, own)
		}
	}
}
