package hostfacts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/revision"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
)

// TestAlike: a name that some file systems take for that of a layer, or of a mark, refuses a revision and is an error of
// the work tree. Cause: a commit of Accessc.toml was no layer in the comparison, and the layer of a start on macOS.
func TestAlike(t *testing.T) {
	c := newCheckout(t)
	c.write("accessc.toml", "extends = [\"conf/*.toml\", \"more/*.toml\", \"\u00fc.toml\"]\n")
	c.write("conf/a.toml", "")
	c.write("more/x.toml", "")
	c.write("\u00fc.toml", "")
	if _, err := os.Lstat(filepath.Join(c.dir, "ACCESSC.toml")); err == nil {
		t.Skip("needs a file system that tells upper from lower case")
	}
	c.git("add", "-A")
	for name, refused := range map[string]bool{
		"Accessc.toml": true, "ACCESSC.toml": true, "accessc.TOML": true, "acce\u017f\u017fc.toml": true, "acce\u00dfc.toml": true,
		".JP/config.toml": true, ".JP/other": true, ".jp/Config.toml": true, ".Accessc/local.toml": true, ".accessc/LOCAL.toml": true,
		".GitAttributes": true, "conf/.GITATTRIBUTES": true, "Conf/b.toml": true, "conf/A.toml": true, "u\u0308.toml": true,
		"sub/Accessc.toml": true, "sub/.JP/x": true, "a/b/.ACCESSC/local.toml": true, "sub/acce\u017f\u017fc.toml": true,
		"accessc.tom": false, "sub/Access.toml": false, "sub/accessc.toml": false, ".gitattributes": false, "Conf2/b.toml": false,
		"sub/jp/Config.toml": false, "conf/b.toml": false,
	} {
		c.write(name, "")
		c.git("add", "-f", name)
		c.git("commit", "-q", "-m", "c")
		work, tree := c.alike()
		if work != refused || tree != refused {
			t.Errorf("%s: the work tree is refused: %v, the revision: %v, expected %v", name, work, tree, refused)
		}
		c.git("rm", "-q", "-f", name)
	}
}

// alike reports whether the work tree has an error of the code, and whether its revision is refused.
func (c checkout) alike() (work, tree bool) {
	c.Helper()
	found := c.shared("").Findings
	work = strings.Contains(fmt.Sprint(found), "ACC083")
	repo, err := revision.Find(c.dir)
	if err != nil {
		c.Fatal(err)
	}
	files, err := repo.Files(workspace.Marks()...)
	if err != nil {
		c.Fatal(err)
	}
	_, listed := workspace.FurtherOf(files, resolve.Fold)
	rev, err := repo.Open("HEAD")
	if err != nil {
		c.Fatal(err)
	}
	defer rev.Close()
	res, err := Compile(Options{
		Options: compiler.Options{Root: c.dir, Tree: rev, Layers: source.Request{Shared: true}},
		State:   userdir.Dir(c.TempDir()), Untested: true,
	})
	if err != nil {
		c.Fatal(err)
	}
	_, _, walked := workspace.Further(rev, resolve.Fold)
	if (listed != nil) != (walked != nil) {
		c.Errorf("git lists: %v, the revision: %v", listed, walked)
	}
	return work, walked != nil || strings.Contains(fmt.Sprint(res.Findings), "ACC083")
}
