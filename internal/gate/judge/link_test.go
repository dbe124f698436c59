package judge

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestNameOfLink: a path over a symlink is judged by the name of the symlink as well as by its target.
func TestNameOfLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"src", "closed"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"src/in": "../src", "closed/in": "../src", "src/out": "../closed"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	roots := &ir.Bindings{Workspace: filepath.ToSlash(dir)}
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.In("src"), Caps: ir.Caps(ir.Read)}}
	j := &Judge{View: ir.NewView(tool, ir.Linux, ir.Facts{Bindings: roots}), Roots: roots, Dir: roots.Workspace}
	for path, refused := range map[string]bool{"src": false, "src/in": false, "closed/in": true, "src/out": true,
		"closed": true} {
		if got := j.Path(path); (got != nil) != refused {
			t.Errorf("%s: refused is %v", path, got != nil)
		}
	}
}
