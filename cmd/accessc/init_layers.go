package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/text/oserr"
)

// fits reports why a text must not become the policy of a directory: other layers have a tool of one of the names,
// and would change it, or all layers together have mistakes then. The text is compiled in place of the file.
// See decision D416.
func (c *initCmd) fits(g *globals, dir string, text []byte, names []string) error {
	now, path, err := c.compiled(g, dir, nil)
	if err != nil {
		return err
	}
	if now.Program == nil {
		return g.mistaken(now, "the layers have these mistakes without it; nothing was changed")
	}
	for _, name := range names {
		if t, ok := now.Program.Tool(name); ok {
			return usagef("the tool %s is there already, by %s, and would be joined with it; nothing was changed. "+
				"Next: accessc explain %s", name, t.Source.Origin, name)
		}
	}
	then, _, err := c.compiled(g, dir, map[string][]byte{path: text})
	if err != nil {
		return err
	}
	if then.Program == nil {
		return g.mistaken(then, "the layers would have these mistakes with it; nothing was changed")
	}
	return nil
}

// compiled compiles all layers of a directory, with texts in place of files. The path is that of its policy.
func (c *initCmd) compiled(g *globals, dir string, edited map[string][]byte) (*hostfacts.Result, string, error) {
	opts, err := g.asking().options(false)
	if err != nil {
		return nil, "", err
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, "", err
	}
	opts.Root, opts.Layers.Edited = canonical(root), edited
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, "", usagef("%s: %v", dir, oserr.Reason(err))
	}
	return res, filepath.Join(opts.Root, "accessc.toml"), nil
}

// mistaken prints the errors of a configuration, and why they end the command.
func (g *globals) mistaken(res *hostfacts.Result, why string) error {
	l := slices.DeleteFunc(slices.Clone(res.Findings), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	l.Sort()
	if err := g.sayText(l, res.Files, why); err != nil {
		return err
	}
	return usagef("%s", why)
}

// toolsOf are the tools that a text defines.
func toolsOf(text string) ([]string, error) {
	t, err := layerfile.Parse("accessc.toml", []byte(text))
	if err != nil {
		return nil, usagef("%w", err)
	}
	return t.Tools(), nil
}

// fresh is fits for a policy that is not there yet; writeNew says so of a policy that is.
func (c *initCmd) fresh(g *globals, dir, path, text string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	names, err := toolsOf(text)
	if err != nil {
		return err
	}
	return c.fits(g, dir, []byte(text), names)
}
