package source

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// Request selects the layers of a run.
type Request struct {
	// Root is the canonical workspace root.
	Root string
	// Base is the directory that names of files count from; empty means Root.
	Base string
	// User is the path of the user's own file; empty leaves that layer out.
	User string
	// Shared leaves out the layers that are not committed with the workspace: the user's, and the local layer unless it
	// is.
	Shared bool
	// Tracked is true where git has the local layer: it is a layer of the repository then.
	Tracked bool
	// Configs are files or directories, in order.
	Configs []string
	// Untrusted are files or directories that may only narrow, in order, after Configs.
	Untrusted []string
	// Sets are KEY=VALUE pairs, in order.
	Sets []string
	// Edited has texts that are read in place of files, by absolute path, to compile the content of
	// a layer before it is written.
	Edited map[string][]byte
	// Home is the user's home directory, which names below it are shortened to.
	Home string
	// Tree, unless nil, has the layers of the workspace in place of the disk: the workspace as
	// it is in a revision, the local layer included.
	Tree fs.ReadLinkFS
	// Top, unless nil, is the work tree that the workspace lies in, at Prefix: layers are refused that git writes
	// otherwise than it keeps them, by attributes there. Of a Tree its commit is looked at.
	Top    fs.FS
	Prefix string
	// Git, unless nil, is the directory that work trees of the repository share, which has macros of its own.
	Git fs.FS
	// Fold, unless nil, returns a form that is equal for names that some file systems do not tell apart. With Top or of
	// a Tree, layers are refused that have such a name beside their own.
	Fold func(string) string
	// Host has the files that are in no Tree; none where it is nil.
	Host Host
	// Only, unless nil, is read in place of all other layers.
	Only *Layer
}

// Layer is a file of the configuration, or a key that was set.
type Layer struct {
	Kind ir.Layer // its place among the layers
	// File is the file that was read, or the text of a key.
	File *File
	// Root is its root table.
	Root *Table
	// Narrow marks a layer that may take away and not grant.
	Narrow bool
	// Trusts marks a file of the user's own, which says how far others are trusted.
	Trusts bool
	// Confined marks a file that every writer of the workspace can write.
	Confined bool
}

// Set is the layers of a run in the order in which they are merged, and the
// text of every file that was read.
type Set struct {
	Layers []Layer // from the lowest to the highest
	Files  Files   // by name
	// Listed are the absolute paths of directories in which patterns of extends look, and of the directories that are
	// named as layers: a file that appears there may become a layer.
	Listed []string
	// Patterns are the patterns of extends, and *.toml in a directory that is named.
	Patterns []Pattern
	// Dangling are the absolute paths of symlinks that patterns found and that lead to nothing: a file there becomes a
	// layer.
	Dangling []string
	// Members are the patterns by which the workspace lists workspaces in it.
	Members []string
}

// Load reads every layer. It goes on after an error, so that one run reports the
// mistakes of all files; layers that failed are left out of the set.
func Load(req Request) (Set, diag.List) {
	if req.Only != nil {
		return Set{Layers: []Layer{*req.Only}, Files: Files{req.Only.File.Name: req.Only.File}}, nil
	}
	host := req.Host
	if host == nil {
		host = nowhere{}
	}
	disk, closed, err := onDisk(host, req.Root)
	defer closed()
	l := loader{req: req, host: host, set: Set{Files: Files{}}, merged: map[merged]bool{}, disk: disk}
	if err != nil && req.Tree != nil {
		l.disk, err = workspace{req.Root, req.Tree}, nil // a directory that the disk does not have
	}
	if err != nil {
		l.unreadable(req.Root, oserr.Reason(err).Error())
		return l.set, l.diags
	}
	if req.User != "" && !req.Shared {
		l.user(req.User)
		l.readTrust()
		for i := range l.set.Layers {
			l.set.Layers[i].Trusts = true
		}
	}
	l.optional(ir.LayerWorkspace, filepath.Join(req.Root, ".jp", "config.toml"))
	l.optional(ir.LayerWorkspace, filepath.Join(req.Root, "accessc.toml"))
	if !req.Shared || req.Tracked || req.Tree != nil {
		l.optional(ir.LayerLocal, req.LocalPath())
	} else {
		l.checkAlike(ir.LayerLocal, req.LocalPath())
	}
	for _, c := range req.Configs {
		l.config(c)
	}
	l.narrow = true
	for _, c := range req.Untrusted {
		l.config(c)
	}
	l.narrow = false
	for i, s := range req.Sets {
		l.setKey(i, s)
	}
	return l.set, l.diags
}

// LocalPath returns the path of the local layer.
func (r Request) LocalPath() string { return filepath.Join(r.Root, ".accessc", "local.toml") }

type loader struct {
	req   Request
	host  Host
	set   Set
	diags diag.List
	// disk is the workspace on the disk, reads caches the files read so far.
	disk  workspace
	reads reads
	// stack is the chain of files that extend each other, outermost first.
	stack []link
	// merged contains the files that already have their place; a file that two others extend is
	// merged once, where it is met first.
	merged map[merged]bool
	// trust are the patterns of the user's layer, narrow whether the layer being loaded may
	// only narrow, confined whether it may name only files of the workspace.
	trust    []trust
	narrow   bool
	confined bool
	// git is the checkout of the workspace, and alike are the names in it that were reported.
	git   *checkout
	alike map[string]bool
}

// merged is a file that has its place. A layer that an untrusted layer extends keeps the
// place that it has without that layer as well. One of a revision is another than that on
// the disk.
type merged struct {
	path    string
	narrow  bool
	revised bool
}

// link is a step of a chain of extends.
type link struct {
	path string
	// real is the path without symlinks: a file is itself by whatever name.
	real string
	at   ir.Pos
}

// workspace returns the tree in which the workspace's layers of a kind are read.
func (l *loader) workspace(kind ir.Layer) workspace {
	if l.revised(kind) {
		return workspace{l.req.Root, l.req.Tree}
	}
	return l.disk
}

func (l *loader) revised(kind ir.Layer) bool {
	return (kind == ir.LayerWorkspace || kind == ir.LayerLocal) && l.req.Tree != nil
}

// user loads the user's own layer. A file of the workspace is none: variables that a repository sets
// for a start of accessc may name it.
// See decision D105.
func (l *loader) user(path string) {
	kind, path := ir.LayerUser, absolute(path)
	_, named := l.disk.holds(path)
	real := l.real(kind, path)
	if _, lies := l.disk.holds(real); named || lies {
		kind, path = ir.LayerLocal, real
	}
	l.optional(kind, path)
}

// optional loads a layer that need not exist.
func (l *loader) optional(kind ir.Layer, path string) {
	if _, edited := l.req.Edited[absolute(path)]; edited {
		l.file(kind, path, ir.Pos{})
		return
	}
	if kind == ir.LayerUser {
		if _, err := l.host.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return
		}
	} else if at, dangling, err := l.workspace(kind).follow(absolute(path)); errors.Is(err, fs.ErrNotExist) &&
		!dangling {
		if err := inSubmodule(l.workspace(kind).tree, at); err != nil {
			l.unreadable(path, err.Error())
		}
		l.checkAlike(kind, absolute(path))
		return
	}
	l.file(kind, path, ir.Pos{})
}

// config loads a file or the *.toml files of a directory in name order. A name that a tool makes in the directory would
// be a layer of its next start.
// See decision D358.
func (l *loader) config(path string) {
	if mode, err := l.host.Stat(path); err != nil || !mode.IsDir() {
		l.file(ir.LayerConfig, path, ir.Pos{})
		return
	}
	path = absolute(path)
	l.set.Listed = append(l.set.Listed, path)
	l.set.Patterns = append(l.set.Patterns, Pattern{path, []string{"*.toml"}})
	entries, err := l.host.ReadDir(path)
	if err != nil {
		l.unreadable(path, oserr.Reason(err).Error())
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".toml") {
			l.file(ir.LayerConfig, filepath.Join(path, e.Name()), ir.Pos{})
		}
	}
}

// file loads a file and, under it, the files that it extends. from is the place that named
// it.
func (l *loader) file(kind ir.Layer, path string, from ir.Pos) {
	path = absolute(path)
	name := l.name(path)
	real := l.real(kind, path)
	defer func(narrow, confined bool) { l.narrow, l.confined = narrow, confined }(l.narrow, l.confined)
	l.narrow = l.narrow || kind != ir.LayerUser && l.distrusts(name, path, real)
	l.confined = l.confined || l.confines(kind, path, real)
	once := merged{real, l.narrow, l.revised(kind)}
	if l.cycle(path, real, from) || l.merged[once] || l.tooMany(from) {
		return
	}
	f, err := l.read(kind, name, path)
	if f != nil {
		l.set.Files[name] = f
	}
	var root *Table
	if err == nil {
		root, err = parse(f)
	}
	if err != nil {
		l.refuse(*err, name, from)
		return
	}
	l.stack = append(l.stack, link{path, real, from})
	l.extends(kind, f, root)
	l.stack = l.stack[:len(l.stack)-1]
	l.members(path, root)
	l.merged[once] = true
	l.set.Layers = append(l.set.Layers, Layer{Kind: kind, File: f, Root: root, Narrow: l.narrow, Confined: l.confined})
}

// refuse reports a file that is no layer. A layer may extend any file, even one of passwords,
// and findings reach other readers: no text of the file is shown unless it has the name of a layer.
func (l *loader) refuse(d diag.Diagnostic, name string, from ir.Pos) {
	if from != (ir.Pos{}) {
		d.Related = append(d.Related, diag.Related{At: from, Note: "named here"})
		if l.set.Files[name] != nil && filepath.Ext(name) != ".toml" {
			delete(l.set.Files, name)
			d.Label = "found no layer; the line is not shown, since the name does not end in .toml"
			d.Span = 0
		}
	}
	l.diags.Add(d)
}

// confines reports whether a file may name only files of the workspace: a file that lies in the workspace, since every
// writer of the workspace can write it. The user's own layer is not confined.
func (l *loader) confines(kind ir.Layer, path, real string) bool {
	if kind == ir.LayerUser && len(l.stack) == 0 {
		return false
	}
	_, named := l.disk.holds(path)
	_, lies := l.disk.holds(real)
	return named || lies || kind == ir.LayerWorkspace || kind == ir.LayerLocal
}

// real is a path without symlinks, as far as they can be followed.
func (l *loader) real(kind ir.Layer, path string) string {
	if w := l.workspace(kind); l.revised(kind) {
		if name, _, err := w.follow(path); err == nil {
			return filepath.Join(filepath.FromSlash(w.root), filepath.FromSlash(name))
		}
		return path
	}
	if real, err := l.host.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// read reads a file, or the text that is given in its place.
func (l *loader) read(kind ir.Layer, name, path string) (*File, *diag.Diagnostic) {
	if text, edited := l.req.Edited[path]; edited {
		return l.edited(kind, name, path, text)
	}
	open := l.host.Open
	if l.confined {
		open = l.workspace(kind).open
	}
	f, err := readFile(name, path, open)
	if f != nil {
		l.reads.bytes += len(f.Data)
	}
	if err == nil && l.confined {
		l.checkAlike(kind, path)
		err = l.checkAltered(kind, name, path)
	}
	return f, err
}

// edited is read for a text that is not on the disk yet. It is refused where the file would be.
func (l *loader) edited(kind ir.Layer, name, path string, text []byte) (*File, *diag.Diagnostic) {
	refuse := func(code diag.Code, label, hint string) *diag.Diagnostic {
		d := diag.New(code, ir.Pos{File: name}, 0)
		d.Label, d.Hint = label, hint
		return &d
	}
	if len(text) > MaxSize {
		return nil, refuse(diag.Unreadable, fmt.Sprintf("found more than %d bytes", MaxSize), "")
	}
	f := newFile(name, path, text)
	l.reads.bytes += len(f.Data)
	err := checkText(f)
	if err != nil || !l.confined {
		return f, err
	}
	if _, _, leaves := l.workspace(kind).follow(path); leads(leaves) {
		return nil, refuse(diag.LayerLeaves, errLeaves.Error(), hintLeaves)
	}
	l.checkAlike(kind, path)
	return f, l.checkAltered(kind, name, path)
}

// cycle reports a file that is about to extend itself.
func (l *loader) cycle(path, real string, from ir.Pos) bool {
	i := slices.IndexFunc(l.stack, func(s link) bool { return s.real == real })
	if i < 0 {
		return false
	}
	var names []string
	for _, s := range l.stack[i:] {
		names = append(names, l.name(s.path))
	}
	d := diag.New(diag.ExtendsCycle, from, 1)
	d.Label = strings.Join(append(names, l.name(path)), " → ")
	d.Path = "extends"
	d.Hint = "remove one of the two"
	l.diags.Add(d)
	return true
}

func (l *loader) extends(kind ir.Layer, f *File, root *Table) {
	v := root.Get("extends")
	if v == nil {
		return
	}
	if v.Kind != ArrayKind {
		l.wrongType(v, "extends", "an array of strings")
		return
	}
	for i, item := range v.Array {
		path := fmt.Sprintf("extends[%d]", i)
		if item.Kind != StringKind {
			l.wrongType(item, path, "a string")
			continue
		}
		if strings.HasPrefix(item.Text, Preset) {
			continue // of the tools, and no file
		}
		for _, file := range l.expand(kind, f, item, path) {
			l.file(kind, file, item.At)
		}
	}
}

func (l *loader) wrongType(v *Value, path, want string) {
	d := diag.New(diag.WrongType, v.At, v.Span)
	d.Label = fmt.Sprintf("found %s, expected %s", v.Kind, want)
	d.Path = path
	l.diags.Add(d)
}

func (l *loader) unreadable(path, why string) {
	d := diag.New(diag.Unreadable, ir.Pos{File: l.name(path)}, 0)
	d.Label = why
	l.diags.Add(d)
}

// setKey loads KEY=VALUE. The value is TOML where it parses as TOML, and a string
// otherwise, so that --set tools.x.run=ask needs no second pair of quotes.
func (l *loader) setKey(i int, s string) {
	name := fmt.Sprintf("--set[%d]", i)
	key, value, ok := strings.Cut(s, "=")
	bad := func(label string) {
		f := newFile(name, "", []byte(s))
		l.set.Files[name] = f
		d := diag.New(diag.BadSet, f.Pos(0), len(s))
		d.Label = label
		l.diags.Add(d)
	}
	if !ok || strings.TrimSpace(key) == "" {
		bad("found no =, expected KEY=VALUE such as tools.fmt.run=ask")
		return
	}
	f := newFile(name, "", []byte(key+"="+value))
	root, err := parse(f)
	if err != nil || len(root.Entries) != 1 || strings.ContainsAny(s, "\r\n") {
		f = newFile(name, "", []byte(key+"="+tomltext.String(strings.TrimSpace(value))))
		root, err = parse(f)
	}
	if err != nil || len(root.Entries) != 1 {
		bad("found a key that TOML does not take")
		return
	}
	l.set.Files[name] = f
	l.set.Layers = append(l.set.Layers, Layer{Kind: ir.LayerSet, File: f, Root: root})
}

// name shortens a path: relative to the workspace, below "~" in the user's home, whole
// otherwise.
func (l *loader) name(path string) string {
	path = absolute(path)
	top := filepath.Dir(l.req.Root) == l.req.Root // below it a name would lack its slash
	if rel, err := filepath.Rel(cmp.Or(l.req.Base, l.req.Root), path); !top && err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	if l.req.Home != "" {
		if rel, err := filepath.Rel(l.req.Home, path); err == nil && filepath.IsLocal(rel) {
			return "~/" + filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(path)
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}
