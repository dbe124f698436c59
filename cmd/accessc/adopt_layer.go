package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/internal/agents/adopt"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// adoptLayer is the layer that gets the tables of adopted servers.
type adoptLayer struct {
	// base is a trusted directory, dir one in it, and file the name of the layer's file there.
	base, dir, file string
	// name is the file as messages have it.
	name   string
	root   string
	ground adopt.Ground
	// was and now are its text before and with the tables.
	was, now []byte
	// tables are those of servers, by the servers' names in the policy.
	tables map[string]table
	// links are the names of the mounts that were printed.
	links []string
	// local is the layer of this checkout, for the servers of its project alone; nil in that layer. unread is why its
	// text could not be read.
	local  *adoptLayer
	unread error
}

// table is the table of a server. There is none where the layer has one already.
type table struct {
	adopt.Config
	has bool
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
	l := &adoptLayer{
		root: root, base: root, dir: ".", file: "accessc.toml", tables: map[string]table{},
		ground: adopt.Ground{Root: root, Home: home, Exists: exists},
	}
	switch jp := filepath.Join(".jp", "config.toml"); {
	case !workspace.Within(canonical(c.File), root):
		own := userdir.UserConfig()
		if own == "" {
			return nil, errors.New("there is no directory for your own layer")
		}
		l.ground.Own, l.base, l.file, l.name = true, filepath.Dir(own), filepath.Base(own), own
	case !exists(filepath.Join(root, l.file)) && exists(filepath.Join(root, jp)):
		l.dir, l.file, l.name = ".jp", "config.toml", jp
	default:
		l.name = l.file
	}
	l.was, err = adopt.Read(l.base, l.dir, l.file)
	if err != nil {
		return nil, usagef("%s: %v; nothing was changed", visible.Text(l.name), oserr.Reason(err))
	}
	l.now = l.was
	l.addLocal(exists)
	return l, nil
}

// addLocal adds the layer of this checkout.
// See decision D395.
func (l *adoptLayer) addLocal(exists func(string) bool) {
	dir, file := filepath.Split(filepath.FromSlash(localLayer))
	l.local = &adoptLayer{
		root: l.root, base: l.root, dir: filepath.Clean(dir), file: file, name: localLayer, tables: map[string]table{},
		ground: adopt.Ground{Root: l.root, Home: l.ground.Home, Exists: exists},
	}
	l.local.was, l.local.unread = adopt.Read(l.local.base, l.local.dir, l.local.file)
	l.local.now = l.local.was
}

// localLayer is the file of the layer of a checkout.
const localLayer = ".accessc/local.toml"

// of is the layer that gets the table of a server.
func (l *adoptLayer) of(s adopt.Server) *adoptLayer {
	if s.Project != "" {
		return l.local
	}
	return l
}

// prepare makes the tables of servers, and compiles all layers with them. Nothing is written.
func (l *adoptLayer) prepare(g *globals, servers []adopt.Server) error {
	opts, err := g.asking().options(true, hostfacts.Platform())
	if err != nil {
		return err
	}
	if opts, err = l.plan(g, opts, servers); err == nil && len(l.local.inserted(servers)) > 0 {
		_, err = l.local.plan(g, opts, servers)
	}
	return err
}

// plan makes the tables of this layer, and returns the options by which it has them.
func (l *adoptLayer) plan(g *globals, opts hostfacts.Options, servers []adopt.Server) (hostfacts.Options, error) {
	if l.unread != nil {
		return opts, fmt.Errorf("%s: %w", l.name, l.unread)
	}
	bare, planned := l.was, maps.Clone(opts.Planned)
	if planned == nil {
		planned = map[string]string{}
	}
	for _, s := range l.inserted(servers) {
		text, err := adopt.Insert(bare, s.Policy, "["+ir.ServersTable+"."+tomltext.Key(s.Policy)+"]\n")
		switch {
		case errors.Is(err, adopt.ErrHasTable):
			l.tables[s.Policy] = table{has: true}
		case err != nil:
			return opts, fmt.Errorf("%s: %w", l.name, err)
		default:
			bare = text
		}
	}
	for _, s := range l.inserted(servers) {
		if l.tables[s.Policy].has {
			continue
		}
		p, err := allow.Begin(allow.Request{Compile: l.edited(opts, bare), Layer: l.layer(), Tool: s.Policy})
		if err != nil {
			return opts, l.wrong(g, err)
		}
		ground := l.ground
		ground.Reserved = func(at string) string { return p.Reserved(filepath.ToSlash(at)) }
		ground.Secrets = func(at string) ([]string, bool) { return p.Secrets(filepath.ToSlash(at)) }
		c := s.Config(ground)
		for _, at := range c.Approve {
			planned[at] = p.Target(at)
		}
		l.tables[s.Policy] = table{Config: c}
		if l.now, err = adopt.Insert(l.now, s.Policy, c.Text); err != nil {
			return opts, fmt.Errorf("%s: %w", l.name, err)
		}
	}
	opts = l.edited(opts, l.now)
	opts.Planned = planned
	res, err := hostfacts.Compile(opts)
	if err == nil && res.Findings.Failed() {
		err = &allow.ConfigError{Findings: res.Findings, Files: res.Files, After: true}
	}
	return opts, l.wrong(g, err)
}

// inserted are the servers that get a table in this layer.
func (l *adoptLayer) inserted(servers []adopt.Server) []adopt.Server {
	return slices.DeleteFunc(slices.Clone(servers), func(s adopt.Server) bool {
		return !s.Changed || s.Shares != "" || (s.Project != "") != (l.local == nil)
	})
}

// edited are options by which the layer has another text.
func (l *adoptLayer) edited(opts hostfacts.Options, text []byte) hostfacts.Options {
	edited := maps.Clone(opts.Layers.Edited)
	if edited == nil {
		edited = map[string][]byte{}
	}
	edited[filepath.Join(l.base, l.dir, l.file)] = text
	opts.Layers.Edited = edited
	return opts
}

func (l *adoptLayer) layer() ir.Layer {
	switch {
	case l.ground.Own:
		return ir.LayerUser
	case l.local == nil:
		return ir.LayerLocal
	default:
		return ir.LayerWorkspace
	}
}

// wrong prints the findings of layers that do not compile.
func (l *adoptLayer) wrong(g *globals, err error) error {
	var findings *allow.ConfigError
	if !errors.As(err, &findings) {
		return err
	}
	if err := g.notAllowed(err); err != nil {
		return err
	}
	return exit(exitFindings)
}

// write writes the tables, and returns how to take them away again.
func (l *adoptLayer) write() (back func() error, err error) {
	made, err := l.makeDir()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.name, err)
	}
	back = func() error { return errors.Join(adopt.Write(l.base, l.dir, l.file, l.now, l.was), made()) }
	if err := adopt.Write(l.base, l.dir, l.file, l.was, l.now); err != nil {
		_ = made() // it is empty
		return nil, fmt.Errorf("%s: %w", l.name, err)
	}
	if l.local == nil {
		return back, nil
	}
	local, err := l.local.write()
	if err != nil {
		return nil, errors.Join(err, back())
	}
	return func() error { return errors.Join(local(), back()) }, nil
}

// makeDir makes the directory of the user's layer, or of this checkout's, for a text to write. It returns how to take a
// new one away.
func (l *adoptLayer) makeDir() (away func() error, err error) {
	dir, mode := l.base, os.FileMode(0o700)
	if l.local == nil {
		dir, mode = filepath.Join(l.base, l.dir), 0o777
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) || bytes.Equal(l.was, l.now) || l.local != nil && !l.ground.Own {
		return func() error { return nil }, nil
	}
	if l.local != nil {
		return func() error { return os.Remove(dir) }, os.MkdirAll(dir, mode)
	}
	ignored := filepath.Join(dir, layerfile.IgnoreFile)
	if err = os.Mkdir(dir, mode); err == nil {
		err = adopt.Ignore(l.base, l.dir)
	}
	return func() error { return errors.Join(os.Remove(ignored), os.Remove(dir)) }, err
}

// inserting says how the table of a server was written.
func (l *adoptLayer) inserting(g *globals, name string, s adopt.Server, tries bool) {
	l = l.of(s)
	c := l.tables[s.Policy]
	key := tomltext.Key(s.Policy)
	if c.has {
		fmt.Fprintf(g.stdout, "# %s: starts under [servers.%s], which %s has already\n", name, key, visible.Text(l.name))
		return
	}
	fmt.Fprintf(g.stdout, "# %s: starts under [servers.%s], written to %s\n", name, key, visible.Text(l.name))
	if c.Downloads != "" && !tries {
		fmt.Fprintf(g.stdout, "# %s: %s at its first start, which can outlast the client's patience; "+
			"accessc adopt --try does it now\n", name, c.Downloads)
	}
	for _, why := range c.Left {
		fmt.Fprintf(g.stdout, "# %s: no rule on %s\n", name, visible.Text(why))
	}
	for _, at := range c.Alone {
		fmt.Fprintf(g.stdout, "# %s: %s is not there yet, and no rule lets it be made there: make it, or give it a "+
			"directory of its own\n", name, visible.Text(at))
	}
	for _, at := range c.Approve {
		fmt.Fprintf(g.stdout, "# %s: needs your approval: accessc approve %s\n", name, shellword.Quote(at))
	}
	for _, at := range c.Mount {
		mode := cmp.Or(c.Modes[at], "rw")
		link := l.ground.Link(at, l.links...)
		l.links = append(l.links, link)
		fmt.Fprintf(g.stdout, "# %s: names a place that no committed rule can: accessc mount %s:%s=%s:%s\n",
			name, shellword.Quote(s.Policy), shellword.Quote(link), shellword.Quote(at), mode)
	}
}

// remove takes the tables of servers away.
func (l *adoptLayer) remove(g *globals, name string, s adopt.Server) {
	l = l.of(s)
	now, err := adopt.Remove(l.now, s.Policy)
	err = errors.Join(l.unread, err)
	if err == nil && !bytes.Equal(now, l.now) {
		err = adopt.Write(l.base, l.dir, l.file, l.now, now)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(g.stdout, "# %s: [servers.%s] in %s: %v\n",
			name, tomltext.Key(s.Policy), visible.Text(l.name), oserr.Reason(err))
		return
	}
	l.now = now
}
