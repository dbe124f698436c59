package irtest

import (
	"maps"
	"path"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
)

// World is a tree of files and directories below some roots, by symbolic path.
type World map[string]ir.NodeKind

var worldRoots = map[string]ir.Root{
	"${workspace}": {Kind: ir.Workspace}, "${home}": {Kind: ir.Home}, "${tmp}": {Kind: ir.Temp}, Elsewhere.String(): Elsewhere,
}

// DrawWorld makes up to n paths exist in the workspace and in the given other roots.
func DrawWorld(t *rapid.T, n int, others ...string) World {
	roots := append([]string{"${workspace}"}, others...)
	w := World{}
	for _, r := range roots {
		w[r] = ir.Dir
	}
	for range rapid.IntRange(0, n).Draw(t, "entries") {
		p := rapid.SampledFrom(roots).Draw(t, "root") + "/" + Path(t, Plain, 3)
		w.Grow(path.Clean(p), Kind(t, ir.File, ir.Dir))
	}
	return w
}

// Grow adds a path with the directories above it, unless a file is in the way.
func (w World) Grow(p string, k ir.NodeKind) {
	parent := path.Dir(p)
	if parent != "." && w[parent] == 0 {
		w.Grow(parent, ir.Dir)
	}
	if w[p] == 0 && (parent == "." || w[parent] == ir.Dir) {
		w[p] = k
	}
}

// Later is the tree some time later: some of the missing nodes have been made.
func (w World) Later(t *rapid.T) World {
	later := maps.Clone(w)
	for range rapid.IntRange(0, 4).Draw(t, "later") {
		p := "${workspace}/" + Path(t, Plain, 3)
		later.Grow(path.Clean(p), Kind(t, ir.File, ir.Dir))
	}
	return later
}

// Kind returns the kind of node at a path.
func (w World) Kind(p string) ir.NodeKind {
	if k, ok := w[p]; ok {
		return k
	}
	return ir.Absent
}

// Places lists the possible targets of operations: the paths that exist, roots excepted, and
// names that could be made in the directories.
func (w World) Places() []ir.Location {
	seen := map[ir.Location]bool{}
	var out []ir.Location
	for _, p := range slices.Sorted(maps.Keys(w)) {
		symbol, rest, _ := strings.Cut(p, "/")
		at := ir.Location{Root: worldRoots[symbol], Path: rest}
		all := []ir.Location{at}
		if w[p] == ir.Dir {
			for _, n := range Plain {
				all = append(all, at.Child(n))
			}
		}
		for _, l := range all {
			if !seen[l] && l.Path != "" {
				seen[l] = true
				out = append(out, l)
			}
		}
	}
	return out
}

// Movable reports whether a rename from src to dst can be asked of a kernel at all:
// there is something, neither contains the other, and a directory only replaces a
// directory.
func (w World) Movable(src, dst string) bool {
	s, d := w.Kind(src), w.Kind(dst)
	return s != ir.Absent && !strings.HasPrefix(dst+"/", src+"/") && !strings.HasPrefix(src+"/", dst+"/") &&
		(d == ir.Absent || d == s)
}
