package resolve_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/accessc/accessc/compiler/resolve"
)

// TestBesideTheMissing: ".." behind a name that is not there leads back to what is there, and symlinks behind it are
// followed; a canonical path has none.
func TestBesideTheMissing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "src/deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"inside": "src", "odd": "gone/../inside/deep", "up": "gone/not/../../inside"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"odd": "/src/deep", "up/deep": "/src/deep", "up/none": "/src/none"} {
		if got, err := resolve.NewDisk().Follow(dir + "/" + path); err != nil || got.Abs != dir+want {
			t.Errorf("%s leads to %s, %v; want %s", path, got.Abs, err, dir+want)
		}
	}
}
