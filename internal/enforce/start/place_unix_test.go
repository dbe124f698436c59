//go:build unix

package start

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPlace: a tool starts where its caller stands, which a symlink does not take out of
// the workspace.
func TestPlace(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sub, outside := filepath.Join(root, "ws", "sub"), filepath.Join(root, "ws2")
	for _, dir := range []string{sub, outside} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ws := filepath.Join(root, "ws")
	for dir, want := range map[string]string{
		sub: sub, ws: ws, outside: ws, root: ws, "": ws, "sub": ws, filepath.Join(ws, "gone"): ws,
	} {
		if got := (&Request{Dir: dir}).place(ws); got != want {
			t.Errorf("%q: found %q, expected %q", dir, got, want)
		}
	}
	if os.Symlink(outside, filepath.Join(ws, "out")) == nil {
		if got := (&Request{Dir: filepath.Join(ws, "out")}).place(ws); got != ws {
			t.Errorf("a symlink led to %q", got)
		}
	}
}
