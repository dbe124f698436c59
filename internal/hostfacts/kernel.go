package hostfacts

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Kernels are the places below those that a tool's rules are about, and the base, at which this host has file systems of the
// kernel mounted.
func (r *Result) Kernels(t *ir.Tool) []ir.Kernel {
	return r.kernels(&ir.Facts{Bindings: r.bindings(t), Base: r.hostBase(t.Base)})
}

func (r *Result) kernels(f *ir.Facts) []ir.Kernel {
	if Platform() != ir.Linux {
		return nil
	}
	var dirs []string
	for _, root := range f.Bindings.Roots() {
		if abs, ok := f.Bindings.Path(ir.Location{Root: root}); ok {
			dirs = append(dirs, abs)
		}
	}
	for _, rule := range f.Base {
		switch first, _, _ := strings.Cut(rule.At.Path, "/"); first {
		case "dev", "proc": // the kernel's own mounts, of which the base lists what a tool may use
		case "etc":
			dirs = append(dirs, "/etc") // in place of a hundred names in it
		default:
			dirs = append(dirs, "/"+rule.At.Path)
		}
	}
	slices.Sort(dirs)
	var out []ir.Kernel
	for _, k := range r.view.Kernels(slices.Compact(dirs)) {
		out = append(out, ir.Kernel{At: f.Bindings.Locate(k.Path), Type: k.Type})
	}
	return out
}
