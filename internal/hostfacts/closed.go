package hostfacts

import (
	"github.com/accessc/accessc/internal/hostview"
	"github.com/accessc/accessc/ir"
)

// Closed are the places below those that a tool's rules are about, and the base, that are no tool's: file systems of the kernel and other
// names of such places that this host has mounted there, and accessc's own state, where other tools have their homes.
// See RATIONALE D363, D375.
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
	var roots []string
	for _, root := range f.Bindings.Roots() {
		if abs, ok := f.Bindings.Path(ir.Location{Root: root}); ok {
			roots = append(roots, abs)
		}
	}
	for _, k := range r.view.Kernels(roots, hostview.Base(f.Base)) {
		out = append(out, ir.Closed{At: f.Bindings.Locate(k.Path), Why: k.Why()})
	}
	return out
}
