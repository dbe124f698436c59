package hostfacts

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// TestPatternsAreProtected: no tool makes a name that a pattern of extends matches, wherever the pattern begins. Cause: the
// directory in which a pattern looks was protected by its path, and that of the workspace itself is empty.
func TestPatternsAreProtected(t *testing.T) {
	for name, c := range map[string]struct {
		extends, config string
		link            bool
		closed, open    []string
	}{
		"names of the root":           {extends: "*.access.toml", closed: []string{"x.access.toml", ".access.toml"}, open: []string{"x.toml", "d/x.access.toml"}},
		"one of each directory":       {extends: "*/access.toml", closed: []string{"new/access.toml"}, open: []string{"new/x", "new/deep/access.toml"}},
		"directories by a prefix":     {extends: "glob*/x.toml", closed: []string{"glob1/x.toml", "glob/x.toml"}, open: []string{"other/x.toml"}},
		"a character":                 {extends: "?eal/*.toml", closed: []string{"real/new.toml"}, open: []string{"teal/new.txt", "xeal2/a.toml"}},
		"at every depth":              {extends: "**/access.toml", closed: []string{"access.toml", "a/access.toml", "a/b/c/access.toml"}, open: []string{"a/b"}},
		"braces":                      {extends: "{a,b}*/x.toml", closed: []string{"a1/x.toml", "b/x.toml"}, open: []string{"c/x.toml"}},
		"over a symlink to the root":  {extends: "self/*/x.toml", link: true, closed: []string{"new/x.toml", "self"}, open: []string{"new/y"}},
		"from above the workspace":    {config: "*/access.toml", closed: []string{"access.toml"}, open: []string{"new/access.toml"}},
		"from above, at every depth":  {config: "**/x.toml", closed: []string{"x.toml", "new/x.toml"}, open: []string{"new/y"}},
		"from above, in one of these": {config: "w*/sub*/x.toml", closed: []string{"sub1/x.toml"}, open: []string{"x.toml"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			root := filepath.Join(dir, "ws")
			write := func(name, text string) {
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			layer := "[tools.t]\nsource = \"local\"\ncommand = \"true\"\n"
			// A file that each pattern finds, so that it is no error.
			for _, f := range []string{"z.access.toml", "real/z.toml", "globz/x.toml", "access.toml", "z/access.toml", "az/x.toml", "bz/x.toml", "z/x.toml", "subz/x.toml"} {
				write(filepath.Join(root, f), "")
			}
			if c.link {
				if err := os.Symlink(".", filepath.Join(root, "self")); err != nil {
					t.Skip(err)
				}
			}
			req := source.Request{}
			if c.config != "" {
				write(filepath.Join(dir, "shared.toml"), "extends = [\""+c.config+"\"]\n")
				req.Configs = []string{filepath.Join(dir, "shared.toml")}
			} else {
				layer = "extends = [\"" + c.extends + "\"]\n" + layer
			}
			write(filepath.Join(root, "accessc.toml"), layer)
			res, err := Compile(Options{Options: compiler.Options{Root: root, Layers: req}, State: userdir.Dir(filepath.Join(dir, "state"))})
			if err != nil || res.Program == nil {
				t.Fatalf("%v: %v", err, res.Findings)
			}
			can := func(at string) bool { return makes(res, at) }
			for _, at := range c.closed {
				if can(at) {
					t.Errorf("%s can be made", at)
				}
			}
			for _, at := range c.open {
				if !can(at) {
					t.Errorf("%s cannot be made", at)
				}
			}
		})
	}
}

// TestNamedDirectoriesAreProtected: no tool makes a name that would be a layer of its next start, in a directory
// that a flag names. Cause: the directory was read, and not remembered as one whose names count.
func TestNamedDirectoriesAreProtected(t *testing.T) {
	for name, c := range map[string]struct{ closed, open []string }{
		"layers":      {[]string{"layers/a.toml", "layers/d", "layers"}, []string{"x.toml"}},
		"self/layers": {[]string{"layers/a.toml", "self"}, []string{"x.toml"}},
		"":            {[]string{"a.toml", ".toml"}, []string{"x", "new/x.toml"}},
		"..":          {nil, []string{"x.toml"}},
	} {
		for _, untrusted := range []bool{false, true} {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			root := filepath.Join(dir, "ws")
			tool := "[tools.t]\nsource = \"local\"\ncommand = \"true\"\n"
			err = errors.Join(os.MkdirAll(filepath.Join(root, "layers"), 0o755),
				os.Symlink(".", filepath.Join(root, "self")),
				os.WriteFile(filepath.Join(root, "accessc.toml"), []byte(tool), 0o644))
			if err != nil {
				t.Skip(err)
			}
			req := source.Request{Configs: []string{filepath.Join(root, filepath.FromSlash(name))}}
			if untrusted {
				req.Configs, req.Untrusted = nil, req.Configs
			}
			opts := Options{Options: compiler.Options{Root: root, Layers: req}}
			opts.State = userdir.Dir(filepath.Join(dir, "state"))
			res, err := Compile(opts)
			if err != nil || res.Program == nil {
				t.Fatalf("%v: %v", err, res.Findings)
			}
			for _, at := range c.closed {
				if makes(res, at) {
					t.Errorf("%s: %s can be made", name, at)
				}
			}
			for _, at := range c.open {
				if !makes(res, at) {
					t.Errorf("%s: %s cannot be made", name, at)
				}
			}
		}
	}
}

// makes reports whether the tool t can make a file on Linux.
func makes(res *Result, at string) bool {
	tool, _ := res.Program.Tool("t")
	v := ir.NewView(tool, ir.Linux, res.Facts(tool))
	return v.Decide(ir.Access{Cap: ir.Create, On: ir.Direct(ir.In(at)), Name: ir.NameFile}).Allowed()
}
