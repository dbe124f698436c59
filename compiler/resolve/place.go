package resolve

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Resolver evaluates paths against a workspace.
type Resolver struct {
	// Disk looks the paths up.
	Disk *Disk
	// Root is the canonical absolute workspace root, slash-separated.
	Root string
	// Home is the absolute path of the user's home, slash-separated; empty where it is not known.
	Home string
}

// New returns a resolver for a workspace root, which must exist.
func New(root string, disk *Disk) (*Resolver, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	found, err := disk.Follow(filepath.ToSlash(abs))
	switch {
	case err != nil:
		return nil, err
	case found.Kind != ir.Dir:
		return nil, errors.New("not a directory: " + root)
	}
	return &Resolver{Disk: disk, Root: found.Abs}, nil
}

// In returns a resolver for a workspace at an absolute path that need not be on the disk: its paths are those of a tree
// (Replace).
func In(root string, disk *Disk) *Resolver {
	for dir := root; dir != volume(root); dir, _ = cutLast(dir) {
		disk.set(dir, node{kind: ir.Dir})
	}
	return &Resolver{Disk: disk, Root: root}
}

// Part returns a resolver for a directory of the workspace, which need not be on the disk: its paths are those of a tree (Replace).
func (r *Resolver) Part(dir string) *Resolver {
	return &Resolver{Disk: r.Disk, Root: r.abs(dir), Home: r.Home}
}

// RulePath is the result of evaluating a rule's path.
type RulePath struct {
	// Lexical is the path with ".." collapsed and symlinks unresolved.
	Lexical string
	// Direct is true of a path in the user's home and of an absolute path.
	Direct bool
	// Inside is true when it leads to a place in the workspace, At.
	Inside bool
	At     ir.Location
	// Abs is the canonical absolute path.
	Abs string
	// Kind is the kind of node there.
	Kind ir.NodeKind
	// Broken is true when the path is, or leads over, a symlink to nothing.
	Broken bool
	// Over are the symlinks that it leads over, by the canonical directories that they are in.
	Over []string
	// Links are the symlinks of the workspace.
	Links []ir.Location
}

// Rule evaluates the path of a rule. Errors are the errors of RuleName, ErrNoHome, ErrLoop, a
// *TextError, or an error of the disk.
func (r *Resolver) Rule(written string) (RulePath, error) {
	out, err := Spelling(written)
	if err != nil {
		return out, err
	}
	abs := r.abs(out.Lexical)
	if out.Direct {
		if abs, err = r.direct(out.Lexical); err != nil {
			return out, err
		}
	}
	found, err := r.Disk.Follow(abs)
	if err != nil {
		return out, err
	}
	out.Abs, out.Kind, out.Broken, out.Over = found.Abs, found.Kind, found.Dangling, found.Links
	ws := ir.Bindings{Workspace: r.Root}
	if at := ws.Locate(found.Abs); at.Root.Kind == ir.Workspace {
		out.Inside, out.At = true, at
	}
	for _, link := range found.Links {
		if at := ws.Locate(link); at.Root.Kind == ir.Workspace && at.Path != "" {
			out.Links = append(out.Links, at)
		}
	}
	return out, nil
}

// Spelling reads the path of a rule without looking at the disk.
func Spelling(written string) (RulePath, error) {
	if err := CheckText(written); err != nil {
		return RulePath{}, err
	}
	lexical, err := RuleName(written)
	// By its beginning: "./~/x" is a name of the workspace.
	return RulePath{Lexical: lexical, Direct: ir.Root{Kind: ir.External, Name: written}.Direct()}, err
}

// direct returns the absolute path of a name that is Direct.
func (r *Resolver) direct(name string) (string, error) {
	below, home := strings.CutPrefix(name, "~")
	switch {
	case !home:
		return name, nil
	case volume(r.Home) == "":
		return "", ErrNoHome
	}
	return path.Clean(r.Home + below), nil
}

// Pretend makes paths resolve as if a symlink to an absolute canonical target stood at a
// workspace-relative path.
func (r *Resolver) Pretend(lexical, target string) { r.Disk.Pretend(r.abs(lexical), target) }

// Replace has paths below the root looked up in a tree in place of the disk. Symlinks in the
// tree that lead outside are followed on the disk.
func (r *Resolver) Replace(tree fs.ReadLinkFS) {
	r.Disk.root, r.Disk.tree = strings.TrimSuffix(r.Root, "/")+"/", tree
}

func (r *Resolver) abs(lexical string) string {
	return strings.TrimSuffix(strings.TrimSuffix(r.Root, "/")+"/"+lexical, "/")
}

// Asked evaluates a path that a tool is asked to act on. With follow, the last
// component is resolved as by open(2); without, it is the name itself, which
// unlink(2) and rename(2) act on.
// See decision D1.
func (r *Resolver) Asked(p string, follow bool, b *ir.Bindings) (ir.Place, ir.NodeKind, error) {
	if name, abs, ok := Outside(p, r.Home, b); ok {
		place, kind, err := r.Kernel(abs, follow, b)
		place.Asked, place.Lexical = true, name
		return place, kind, err
	}
	lexical, err := Lexical(p)
	switch {
	case errors.Is(err, ErrAbsolute):
		return ir.Place{Fault: ir.ReasonAbsolute}, ir.Unknown, nil
	case err != nil || p == "~" || strings.HasPrefix(p, "~/"):
		return ir.Place{Fault: ir.ReasonOutside}, ir.Unknown, nil
	}
	place, kind, err := r.Kernel(r.abs(lexical), follow, b)
	place.Asked, place.Lexical = true, lexical
	if strings.HasPrefix(lexical, "~") {
		place.Lexical = "./" + lexical // no name of the home
	}
	return place, kind, err
}

// Outside reads a path that a rule names by itself: the path as rules spell it, and absolute,
// below the target of the rule. An absolute path of the home, as a shell makes one of "~/x", is
// read as such.
// See decision D108.
func Outside(p, home string, b *ir.Bindings) (name, abs string, ok bool) {
	asked, err := Spelling(filepath.ToSlash(p))
	if err != nil || !asked.Direct {
		return "", "", false
	}
	names := []string{asked.Lexical}
	if rest, in := strings.CutPrefix(asked.Lexical, strings.TrimSuffix(home, "/")+"/"); in && home != "" {
		names = append(names, "~/"+rest)
	}
	for _, name := range names {
		for rule := name; ; rule = path.Dir(rule) {
			target, bound := b.External[rule]
			if bound && (ir.Root{Kind: ir.External, Name: rule}).Direct() {
				return name, strings.TrimSuffix(target, "/") + strings.TrimPrefix(name, rule), true
			}
			if rule == path.Dir(rule) {
				break
			}
		}
	}
	return "", "", false
}

// Kernel evaluates an absolute path the way a program that opens it itself does.
func (r *Resolver) Kernel(abs string, follow bool, b *ir.Bindings) (ir.Place, ir.NodeKind, error) {
	step := r.Disk.Name
	if follow {
		step = r.Disk.Follow
	}
	found, err := step(path.Clean(filepath.ToSlash(abs)))
	switch {
	case errors.Is(err, ErrLoop):
		return ir.Place{Fault: ir.ReasonLoop}, ir.Unknown, nil
	case err != nil:
		return ir.Place{}, ir.Unknown, err
	}
	return ir.Direct(b.Locate(found.Abs)), found.Kind, nil
}

// Program evaluates the path of a program that is started, absolute or from the workspace,
// as the kernel does: a name that a tool is started by is no argument of the tool.
func (r *Resolver) Program(file string, b *ir.Bindings) (ir.Place, error) {
	if file = filepath.ToSlash(file); volume(file) == "" {
		file = r.abs(file)
	}
	found, err := r.Disk.Follow(file)
	switch {
	case errors.Is(err, ErrLoop):
		return ir.Place{Fault: ir.ReasonLoop}, nil
	case err != nil:
		return ir.Place{}, err
	}
	return ir.Direct(b.Locate(found.Abs)), nil
}
