package kubernetes

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// conversion is a policy on its way into objects.
type conversion struct {
	tool *ir.Tool
	view *ir.View
	// tops are the trees of the roots, byRule the regions that a rule governs.
	tops   []*ir.Region
	byRule map[ir.RuleID][]*ir.Region
	byName map[ir.RuleID][]backends.Named
	mounts []mount
	// from are the rules behind mounts, by their paths, and mounted the regions that have a mount.
	from    map[string]ir.Rule
	mounted map[*ir.Region]bool
	// named are the rules about hosts that Cilium's policy opens.
	named []*ir.NetRule
}

func newConversion(t *ir.Tool) *conversion {
	view := ir.NewView(t, ir.Linux, ir.Facts{})
	c := &conversion{tool: t, view: view, tops: view.Tree(), byRule: map[ir.RuleID][]*ir.Region{},
		byName: map[ir.RuleID][]backends.Named{},
		mounts: []mount{}, from: map[string]ir.Rule{}, mounted: map[*ir.Region]bool{}}
	for _, top := range c.tops {
		top.Walk(func(r *ir.Region) {
			c.byRule[r.ID()] = append(c.byRule[r.ID()], r)
			c.mount(r)
		})
		if top.Above == nil {
			backends.AddNamed(c.byName, top)
		}
	}
	for i := range t.Net {
		if c.names(&t.Net[i]) {
			c.named = append(c.named, &t.Net[i])
		}
	}
	return c
}

// volumeOf is the name of a root's volume, and its place in a pod. Both are empty for a root that has none.
func volumeOf(k ir.RootKind) (name, path string) {
	switch k {
	case ir.Workspace:
		return "workspace", "/workspace"
	case ir.Home:
		return "home", "/home/tool"
	case ir.Temp:
		return "tmp", "/tmp"
	case ir.System, ir.External:
	}
	return "", ""
}

// mountPath is the place of a root in a pod, empty for those that have none.
func mountPath(k ir.RootKind) string {
	_, path := volumeOf(k)
	return path
}

// mask is an empty volume, which is mounted over the places that are closed.
const mask = "closed"

// access is the kind of a place in a pod.
type access uint8

const (
	denied access = iota
	readOnly
	readWrite
)

// writable are the capabilities that writing takes; a mount knows no part of it.
const writable = ir.CapSet(1<<ir.Read | 1<<ir.Create | 1<<ir.Update | 1<<ir.Delete)

func accessOf(caps ir.CapSet) access {
	switch {
	case caps.Contains(writable):
		return readWrite
	case caps.Has(ir.Read):
		return readOnly
	default:
		return denied
	}
}

// kind is the access that a region has in the pod. Protected paths would need mounts of their own, and Kubernetes makes
// a place that is missing, as a directory: a workspace that holds some is for reading, or they are accepted to be open.
func (c *conversion) kind(r *ir.Region) access {
	is := accessOf(r.Caps)
	switch {
	case mountPath(r.At.Root.Kind) == "":
		return denied
	case r.Link, r.Through, r.Guarded() && c.exposes():
		return c.around(r)
	case is == readWrite && !c.exposes() && guards(r):
		return readOnly
	default:
		return is
	}
}

// writes reports whether some directory of the workspace is for writing.
func (c *conversion) writes() bool {
	found := false
	for _, top := range c.tops {
		top.Walk(func(r *ir.Region) {
			found = found || r.At.Root.Kind == ir.Workspace && !r.Guarded() && c.kind(r) == readWrite
		})
	}
	return found
}

// exposes reports whether the policy accepts that protected paths are not held.
func (c *conversion) exposes() bool {
	return slices.ContainsFunc(c.tool.Accept, func(a ir.Acceptance) bool { return a.Gap == ir.GapFSProtected })
}

// guards reports whether a protected path that may not be written lies in a region.
func guards(r *ir.Region) bool {
	return slices.ContainsFunc(r.Below, func(b *ir.Region) bool {
		return b.Guarded() && accessOf(b.Caps) != readWrite || guards(b)
	})
}

// around is the access that a region has without a mount of its own.
func (c *conversion) around(r *ir.Region) access {
	if r.Above == nil {
		return denied
	}
	return c.kind(r.Above)
}

// mount adds the mount of a region whose access is not the access of the place around it.
func (c *conversion) mount(r *ir.Region) {
	is := c.kind(r)
	if is == c.around(r) {
		return
	}
	name, path := volumeOf(r.At.Root.Kind)
	m := mount{Name: name, Path: path, SubPath: r.At.Path}
	if r.At.Path != "" {
		m.Path += "/" + r.At.Path
	}
	switch is {
	case denied:
		m.Name, m.SubPath, m.ReadOnly, m.Recursive = mask, "", true, "Enabled"
	case readOnly:
		m.ReadOnly, m.Recursive = true, "Enabled"
	case readWrite:
	}
	c.mounts = append(c.mounts, m)
	c.mounted[r] = true
	if r.Governing.Rule != nil {
		c.from[m.Path] = r.Governing.Rule
	}
}

func (c *conversion) uses(volume string) bool {
	return slices.ContainsFunc(c.mounts, func(m mount) bool { return m.Name == volume })
}
