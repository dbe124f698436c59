package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/internal/adopt"
	"github.com/accessc/accessc/internal/oserr"
	"github.com/accessc/accessc/internal/shellword"
	"github.com/accessc/accessc/internal/tomltext"
	"github.com/accessc/accessc/internal/userdir"
	"github.com/accessc/accessc/internal/visible"
	"github.com/accessc/accessc/internal/workspace"
)

// adoptLayer is the layer that gets the tables of adopted servers.
type adoptLayer struct {
	file, name, root string
	ground           adopt.Ground
	err              error
}

// layer is the workspace's own for a file that lies in it, since both are committed, and the user's for others.
func (c *adoptCmd) layer(g *globals) (*adoptLayer, error) {
	root, err := g.findRoot()
	if err != nil {
		return nil, err
	}
	root = canonical(root)
	home, _ := os.UserHomeDir() // without one there is no ~
	exists := func(at string) bool { _, err := os.Lstat(at); return err == nil }
	l := &adoptLayer{root: root, ground: adopt.Ground{Root: root, Home: home, Exists: exists}}
	if !workspace.Within(canonical(c.File), root) {
		l.ground.Own, l.file = true, userdir.UserConfig()
		l.name = l.file
		return l, nil
	}
	l.name = "accessc.toml"
	other := filepath.Join(".jp", "config.toml")
	if !exists(filepath.Join(root, l.name)) && exists(filepath.Join(root, other)) {
		l.name = other
	}
	l.file = filepath.Join(root, l.name)
	return l, nil
}

// insert writes the table of a server, or prints it where it cannot be written.
func (l *adoptLayer) insert(g *globals, name string, s adopt.Server, tries bool) {
	c := s.Config(l.ground)
	key := tomltext.Key(s.Policy)
	err := adopt.Edit(l.file, func(layer []byte) ([]byte, error) { return adopt.Insert(layer, s.Policy, c.Text) })
	switch {
	case errors.Is(err, adopt.ErrHasTable):
		fmt.Fprintf(g.stdout, "# %s: starts under [servers.%s], which %s has already\n", name, key, l.name)
		return
	case err != nil:
		l.err = errors.Join(l.err, fmt.Errorf("%s: %v; write the table of %s yourself", l.name, oserr.Reason(err), name))
		fmt.Fprintf(g.stdout, "# %s: starts under [servers.%s]; without that table, under the default policy\n%s",
			name, key, c.Text)
	default:
		fmt.Fprintf(g.stdout, "# %s: starts under [servers.%s], written to %s\n", name, key, visible.Text(l.name))
	}
	if c.Downloads != "" && !tries {
		fmt.Fprintf(g.stdout, "# %s: %s at its first start, which can outlast the client's patience; "+
			"accessc adopt --try does it now\n", name, c.Downloads)
	}
	for _, at := range c.Approve {
		fmt.Fprintf(g.stdout, "# %s: needs your approval: accessc approve %s\n", name, shellword.Quote(at))
	}
	for _, at := range c.Mount {
		fmt.Fprintf(g.stdout, "# %s: names a place that no committed rule can: accessc mount %s:%s=%s:rw\n",
			name, shellword.Quote(s.Policy), "NAME", shellword.Quote(at))
	}
}

// remove takes the table of a server away.
func (l *adoptLayer) remove(g *globals, name string, s adopt.Server) {
	err := adopt.Edit(l.file, func(layer []byte) ([]byte, error) { return adopt.Remove(layer, s.Policy) })
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(g.stdout, "# %s: [servers.%s] in %s: %v\n",
			name, tomltext.Key(s.Policy), visible.Text(l.name), oserr.Reason(err))
	}
}
