package hostfacts

import (
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/files/kernelfs"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// Protected returns the protected paths of a tool that the list does not name; none for a tool whose policy protects
// nothing and permits no questions. In the places of external rules they are the paths of the workspace's repository,
// and layers.
func (r *Result) Protected(t *ir.Tool) []ir.ProtectedPath {
	if !t.Protects && len(t.May) == 0 {
		return nil
	}
	out := slices.Clip(r.ownProtected())
	if t.Protects {
		out = append(out, r.elsewhere(r.leads(t))...)
	}
	return out
}

// elsewhere are the protected paths in the targets of external rules. A target that has two rules has them in both.
// See decision D410.
func (r *Result) elsewhere(targets map[string]resolve.RulePath) (out []ir.ProtectedPath) {
	for _, p := range r.outside {
		deepest := ""
		for _, found := range targets {
			if _, ok := resolve.Below(p.abs, found.Abs); ok && len(found.Abs) > len(deepest) {
				deepest = found.Abs
			}
		}
		for name, found := range targets {
			if rel, _ := resolve.Below(p.abs, found.Abs); deepest != "" && found.Abs == deepest && rel != "" {
				out = append(out, ir.ProtectedPath{
					Root: ir.Root{Kind: ir.External, Name: name}, Path: rel, Open: p.open, Why: p.why,
					Origin: ownOrigin,
				})
			}
		}
	}
	slices.SortFunc(out, func(a, b ir.ProtectedPath) int {
		return cmp.Or(strings.Compare(a.Root.Name, b.Root.Name), strings.Compare(a.Path, b.Path), order(a.Open, b.Open))
	})
	return slices.CompactFunc(out, func(a, b ir.ProtectedPath) bool { return a.At() == b.At() && a.Open == b.Open })
}

// Guarded is how many protected paths the target of an external rule has that a tool may otherwise write.
func (r *Result) Guarded(t *ir.Tool, name string) (n int) {
	root := ir.Root{Kind: ir.External, Name: name}
	writes := func(f ir.FSRule) bool { return f.At.Root == root && f.Caps&ir.Write != 0 }
	if t == nil || !slices.ContainsFunc(t.FS, writes) {
		return 0
	}
	for _, p := range r.Protected(t) {
		if p.Root == root && !p.Open {
			n++
		}
	}
	return n
}

// order has open places come last.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

var ownOrigin = ir.Origin{Layer: ir.LayerProtected, Label: "protected"}

// guarding adds a place that is protected, or an open place in a protected directory.
type guarding func(abs, why string, open bool)

// guardedPlace is a protected place outside of the workspace.
type guardedPlace struct {
	abs, why string
	open     bool
}

// ownProtected are the protected paths that only this workspace has: the layers that were read, the targets
// of symlinks at listed paths, and a .git that is a file, which names the directory that git runs programs of
// (gitrepository-layout(5)). Paths outside of the workspace are kept apart.
func (r *Result) ownProtected() []ir.ProtectedPath {
	if r.guarded != nil {
		return r.guarded
	}
	r.guarded = []ir.ProtectedPath{}
	add := func(abs, why string, open bool) {
		at := r.within(abs)
		switch {
		case at == "" && abs != r.Resolver.Root:
			r.outside = append(r.outside, guardedPlace{abs, why, open})
		case at != "" && at != "." && r.isGuarded(at) == open:
			r.guarded = append(r.guarded, ir.ProtectedPath{Path: at, Open: open, Why: why, Origin: ownOrigin})
		}
	}
	r.guardGit(add)
	for _, p := range ir.ProtectedPaths() {
		if p.Pattern {
			continue
		}
		if found, ok := r.here(p.Path); ok && len(found.Links) > 0 {
			r.guardAt(path.Join(r.Resolver.Root, p.Path), p.Why, add)
		}
	}
	for _, f := range r.Files {
		if f.Path == "" {
			continue // a key that was set
		}
		if found, err := r.Resolver.Disk.Follow(filepath.ToSlash(f.Path)); err == nil && found.Kind == ir.File {
			r.guardLinks(found, ir.WhyPolicy, add)
			add(found.Abs, ir.WhyPolicy, false)
		}
	}
	// The user's layer holds in every workspace, and may be made: its directory is protected before it is there. See
	// decision D183.
	if own := userdir.UserConfig(); own != "" {
		dir := filepath.Dir(own)
		for _, name := range []string{dir, own, filepath.Join(dir, "attestation.toml")} {
			if found, err := r.Resolver.Disk.Follow(filepath.ToSlash(name)); err == nil {
				r.guardLinks(found, ir.WhyPolicy, add)
				add(found.Abs, ir.WhyPolicy, false)
			}
		}
	}
	r.guardLayers(r.Dangling, r.Listed, add)
	for _, p := range r.Patterns {
		// What a pattern looks for in a directory of the workspace lies in that directory, which is protected whole; in
		// the workspace itself, or above it, only the names are left.
		if found, err := r.Resolver.Disk.Follow(filepath.ToSlash(p.Base)); err == nil {
			p.Base = filepath.FromSlash(found.Abs)
		}
		for _, pattern := range p.Inside(filepath.FromSlash(r.Resolver.Root)) {
			r.guardPattern(pattern)
		}
	}
	r.guardMembers(add)
	r.guardMounted(add)
	slices.SortFunc(r.guarded, func(a, b ir.ProtectedPath) int { return strings.Compare(a.Path, b.Path) })
	return r.guarded
}

// guardLayers adds the places where a file would become a layer: symlinks that lead to nothing, and directories in
// which patterns of extends look.
func (r *Result) guardLayers(dangling, listed []string, add guarding) {
	for _, link := range dangling {
		r.guardAt(filepath.ToSlash(link), ir.WhyPolicy, add)
	}
	for _, dir := range listed {
		if found, err := r.Resolver.Disk.Follow(filepath.ToSlash(dir)); err == nil {
			r.guardLinks(found, ir.WhyPolicy, add)
			add(found.Abs, ir.WhyPolicy, false)
		}
	}
}

// guardMounted adds the other names of protected paths at which, or in which, a mount shows another place.
// See decision D441.
func (r *Result) guardMounted(add guarding) {
	if !r.resolved || Platform() != ir.Linux {
		return
	}
	listed := slices.Concat(ir.ProtectedPaths(), r.guarded)
	for _, k := range r.view.Kernels([]string{r.Resolver.Root}, nil) {
		if k.Again == "" || k.Path == r.Resolver.Root {
			continue
		}
		for _, p := range listed {
			abs := path.Join(r.Resolver.Root, p.Path)
			switch rest, there := resolve.Below(abs, k.Path); {
			case p.Pattern || p.Open:
			case there:
				add(path.Join(k.Again, rest), p.Why, false)
			case kernelfs.Below(k.Path, abs):
				add(k.Again, p.Why, false)
			}
		}
	}
}

// isGuarded reports whether a path of the workspace lies in a protected path that is not open
// there.
func (r *Result) isGuarded(at string) bool {
	deepest, guarded := -1, false
	for _, p := range slices.Concat(ir.ProtectedPaths(), r.guarded) {
		if !p.Pattern && ir.Within(at, p.Path) && len(p.Path) > deepest {
			deepest, guarded = len(p.Path), !p.Open
		}
	}
	return guarded
}

// guardPattern adds the names that a pattern of extends may match.
func (r *Result) guardPattern(pattern string) {
	p := ir.ProtectedPath{
		Path: pattern, Pattern: true, Why: ir.WhyPolicy, Origin: ownOrigin,
	}
	if !slices.Contains(r.guarded, p) {
		r.guarded = append(r.guarded, p)
	}
}

// protectedLinks are the protected paths of a tool that are symlinks, the paths of the list
// included.
func (r *Result) protectedLinks(t *ir.Tool) []ir.Location {
	if !t.Protects {
		return nil
	}
	var out []ir.Location
	for _, p := range slices.Concat(ir.ProtectedPaths(), r.ownProtected()) {
		if p.Pattern {
			continue
		}
		if found, ok := r.here(p.Path); !ok || len(found.Links) == 0 {
			continue
		}
		mode, err := r.view.Lstat(filepath.FromSlash(path.Join(r.Resolver.Root, p.Path)))
		if err == nil && mode&fs.ModeSymlink != 0 {
			out = append(out, p.At())
		}
	}
	return out
}

// here follows a path of the workspace of which at least the first name is there.
func (r *Result) here(at string) (resolve.Found, bool) {
	first, _, _ := strings.Cut(at, "/")
	if found, err := r.Resolver.Disk.Follow(path.Join(r.Resolver.Root, first)); err != nil ||
		found.Kind == ir.Absent && len(found.Links) == 0 {
		return found, false
	}
	found, err := r.Resolver.Disk.Follow(path.Join(r.Resolver.Root, at))
	return found, err == nil
}

// within is the path of a place of the workspace, relative to it; empty for a place elsewhere.
func (r *Result) within(abs string) string {
	rest, ok := resolve.Below(abs, r.Resolver.Root)
	if !ok {
		return ""
	}
	return rest
}
