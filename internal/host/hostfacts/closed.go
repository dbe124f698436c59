package hostfacts

import (
	"path"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/files/kernelfs"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// Closed are the places below the places that a tool's rules are about, and the base, that are no tool's: file
// systems of the kernel and other names of such places that this host has mounted there, and accessc's own state,
// where other tools have their homes. See decisions D183 and D441.
func (r *Result) Closed(t *ir.Tool) []ir.Closed {
	return r.closed(&ir.Facts{Bindings: r.bindings(t), Base: r.hostBase(t.Base)})
}

func (r *Result) closed(f *ir.Facts) (out []ir.Closed) {
	if Platform() != ir.Linux {
		return nil
	}
	for _, name := range r.own(r.Resolver) {
		if at := f.Bindings.Locate(name); at.Path != "" && at.Root.Kind != ir.System {
			out = append(out, ir.Closed{At: at, Why: "accessc's own state or the user's layer"})
		}
	}
	for _, k := range r.kernels(f) {
		out = append(out, ir.Closed{At: f.Bindings.Locate(k.Path), Why: k.Why()})
	}
	return out
}

// kernels are the places of a tool at which the kernel shows itself, or a mount shows another place.
func (r *Result) kernels(f *ir.Facts) []hostview.Kernel {
	var roots []string
	for _, root := range f.Bindings.Roots() {
		if abs, ok := f.Bindings.Path(ir.Location{Root: root}); ok {
			roots = append(roots, abs)
		}
	}
	return r.view.Kernels(roots, hostview.Base(f.Base))
}

// mountedRules objects to rules on places that are closed because a mount shows another place there, where that place
// has more: by its name the tool would have the grants that the rule takes away.
// See decision D441.
func (r *Result) mountedRules(t *ir.Tool) (out diag.List) {
	f := ir.Facts{Bindings: r.bindings(t), Base: r.hostBase(t.Base)}
	kernels := r.kernels(&f)
	for i := range t.FS {
		rule := &t.FS[i]
		abs, ok := f.Bindings.Path(rule.At)
		if !ok {
			continue
		}
		for _, k := range kernels {
			rest, there := resolve.Below(abs, k.Path)
			if rule.ByName() && kernelfs.Below(k.Path, abs) {
				rest, there = "", true // some of its names may be there
			}
			other := path.Join(k.Again, rest)
			in := func(k hostview.Kernel) bool { return kernelfs.Below(other, k.Path) }
			if k.Again == "" || !there || slices.ContainsFunc(kernels, in) {
				continue
			}
			by := deepest(t, f.Bindings.Locate(other))
			if by != nil && by != rule && !rule.Caps.Contains(by.Caps) && !held(t, rule, by) {
				d := aboutPath(diag.LinkedWide, rule,
					"lies where a mount shows "+k.Again+", of which "+by.Subject()+" grants more")
				d.Hint = "write the rule for " + other + ", or take the mount away"
				out.Add(d)
			}
		}
	}
	return out
}

// held reports whether a rule by name has its like below a place that another rule is about.
func held(t *ir.Tool, r, by *ir.FSRule) bool {
	return r.ByName() && slices.ContainsFunc(t.FS, func(o ir.FSRule) bool {
		return slices.Equal(o.Names, r.Names) && r.Caps.Contains(o.Caps) && by.At.Under(o.At)
	})
}

// deepest is the rule of a tool that decides about a place, nil for none.
func deepest(t *ir.Tool, at ir.Location) (out *ir.FSRule) {
	best := 0
	for i := range t.FS {
		if length, ok := t.FS[i].Matches(at); ok && length >= best {
			out, best = &t.FS[i], length
		}
	}
	return out
}
