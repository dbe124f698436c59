package resolve_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/hostview"
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
	for link, target := range map[string]string{"inside": "src", "odd": "gone/../inside/deep",
		"up":  "gone/not/../../inside",
		"far": "src/deep", "back": "far/../other"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"odd": "/src/deep", "up/deep": "/src/deep", "up/none": "/src/none", "back": "/src/other"} {
		if got, err := resolve.Through(hostview.Now).Follow(dir + "/" + path); err != nil || got.Abs != dir+want {
			t.Errorf("%s leads to %s, %v; want %s", path, got.Abs, err, dir+want)
		}
	}
}

// TestAsManyLinks: a path leads over as many symlinks as the kernel follows, and over no more.
func TestAsManyLinks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems follow other numbers of symlinks")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := "end"
	for i := range 41 {
		link := fmt.Sprintf("link%d", i+1)
		if err := os.Symlink(at, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		at = link
	}
	if err := os.WriteFile(filepath.Join(dir, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, loops := range map[string]bool{"link40": false, "link41": true} {
		_, kernel := os.Stat(filepath.Join(dir, link))
		found, err := resolve.Through(hostview.Now).Follow(dir + "/" + link)
		if errors.Is(err, resolve.ErrLoop) != loops || (kernel != nil) != loops || !loops && found.Abs != dir+"/end" {
			t.Errorf("%s: %s, %v; the kernel says %v", link, found.Abs, err, kernel)
		}
	}
}
