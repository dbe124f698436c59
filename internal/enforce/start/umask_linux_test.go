package start_test

import (
	"os"
	"strings"
	"testing"
)

// TestUmask: what a supervised tool makes has the mode that the tool's own mask leaves, not the supervisor's, by
// every call that makes a name.
func TestUmask(t *testing.T) {
	f := newFortress(t)
	_, out := f.ended("umask 077; mkdir docs/d; : >docs/f; mkfifo docs/p; umask 022; mkdir docs/d2; : >docs/f2", nil)
	for name, want := range map[string]os.FileMode{
		"d": os.ModeDir | 0o700, "f": 0o600, "p": os.ModeNamedPipe | 0o600, "d2": os.ModeDir | 0o755, "f2": 0o644,
	} {
		info, err := os.Lstat(f.at("docs/" + name))
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v\n%s", name, info, err, want, strings.TrimSpace(out))
		}
	}
}
