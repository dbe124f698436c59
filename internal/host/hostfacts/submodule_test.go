package hostfacts

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/revision"
	"github.com/accessc/accessc/internal/host/userdir"
)

// TestSubmodules: a layer in a submodule is read by starts and is in no tree of the repository, so a revision that has one is
// refused. Cause: a pattern found the files of the repository alone, and a new commit of the submodule was no difference.
func TestSubmodules(t *testing.T) {
	for name, c := range map[string]struct {
		layer, at string
		refused   bool
	}{
		"a pattern":                  {`extends = ["conf/**/*.toml"]`, "conf/sub", true},
		"a pattern that ends before": {`extends = ["conf/*.toml"]`, "conf/sub", false},
		"a pattern behind it":        {`extends = ["{conf,conf/sub/x}/*.toml"]`, "conf/sub", true},
		"a file":                     {`extends = ["conf/sub/a.toml", "conf/a.toml"]`, "conf/sub", true},
		"the host's layer":           {"", ".jp", true},
		"the local layer":            {"", ".accessc", true},
		"elsewhere":                  {`extends = ["conf/**/*.toml"]`, "other", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newCheckout(t)
			r.write("accessc.toml", c.layer+"\n[tools.t]\nsource = \"local\"\ncommand = \"true\"\n")
			r.write("conf/a.toml", "")
			r.git("add", "-A")
			r.git("commit", "-q", "-m", "c")
			r.git("update-index", "--add", "--cacheinfo", "160000,"+r.git("rev-parse", "HEAD")+","+c.at)
			r.git("commit", "-q", "-m", "sub")
			repo, err := revision.Find(r.dir)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := repo.Open("HEAD")
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			res, err := Compile(Options{
				Options: compiler.Options{Root: filepath.Clean(r.dir), Tree: tree, Layers: source.Request{Shared: true}},
				State:   userdir.Dir(t.TempDir()), Untested: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			named := false
			for _, d := range res.Findings {
				named = named || strings.Contains(d.Label, "submodule "+c.at)
			}
			if res.Findings.Failed() != c.refused || c.refused && !named && name != "a file" {
				t.Errorf("refused: %v, expected %v: %+v", res.Findings.Failed(), c.refused, res.Findings)
			}
		})
	}
}
