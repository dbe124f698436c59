package hostview

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTornStays: a host that changed between two looks was in motion, also where the last look is as the first.
func TestTornStays(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	v := New()
	look := func(want bool) {
		t.Helper()
		_, _ = v.Lstat(name)
		if _, whole := v.Seen(); whole != want {
			t.Errorf("whole is %v, want %v", whole, want)
		}
	}
	look(true)
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	look(false)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	look(false)
	look(false)
	v.Forget()
	look(true)
}
