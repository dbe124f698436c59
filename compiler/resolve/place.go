package resolve

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Resolver evaluates paths against one workspace.
type Resolver struct {
	// Disk looks the paths up.
	Disk *Disk
	// Root is the canonical absolute workspace root, slash-separated.
	Root string
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

// RulePath is the result of evaluating a rule's path.
type RulePath struct {
	// Lexical is the path with ".." collapsed and symlinks unresolved.
	Lexical string
	// Inside is true when it leads to a place in the workspace, At.
	Inside bool
	At     ir.Location
	// Abs is the canonical absolute path.
	Abs string
	// Kind is the kind of node there.
	Kind ir.NodeKind
	// Broken is true when the path is, or leads over, a symlink to nothing.
	Broken bool
	// Links are the symlinks of the workspace that it leads over.
	Links []ir.Location
}

// Rule evaluates the path of a rule. Errors are ErrEmpty, ErrAbsolute, ErrLeaves, ErrLoop, a
// *TextError, or an error of the disk.
func (r *Resolver) Rule(written string) (RulePath, error) {
	if err := CheckText(written); err != nil {
		return RulePath{}, err
	}
	lexical, err := Lexical(written)
	if err != nil {
		return RulePath{}, err
	}
	found, err := r.Disk.Follow(r.abs(lexical))
	if err != nil {
		return RulePath{}, err
	}
	out := RulePath{Lexical: lexical, Abs: found.Abs, Kind: found.Kind, Broken: found.Dangling}
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
// See RATIONALE D2.
func (r *Resolver) Asked(p string, follow bool, b *ir.Bindings) (ir.Place, ir.NodeKind, error) {
	lexical, err := Lexical(p)
	switch {
	case errors.Is(err, ErrAbsolute):
		return ir.Place{Fault: ir.ReasonAbsolute}, ir.Unknown, nil
	case err != nil:
		return ir.Place{Fault: ir.ReasonOutside}, ir.Unknown, nil
	}
	place, kind, err := r.Kernel(r.abs(lexical), follow, b)
	place.Asked, place.Lexical = true, lexical
	return place, kind, err
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
