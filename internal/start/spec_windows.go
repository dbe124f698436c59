package start

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/ir"
)

// Spec is what is applied on this system.
type Spec = winjob.Spec

// Artifact is the name of the file that holds a specification.
const Artifact = "winjob.json"

// lastLevel is the last feature level that specifications know.
const lastLevel = ir.BestTier

// tierNone is the level of a host on which nothing is started.
const tierNone = -1

// Parse reads a specification.
func Parse(data []byte) (*Spec, error) { return winjob.Parse(data) }

// Unmet returns what of a specification's needs a host does not meet, one entry per
// cell.
func Unmet(s *Spec, h Host) []backends.Need { return unmet(s.Launch().Needs, h, byLoader) }

// byLoader reports whether the loader holds a cell, by staying.
func byLoader(n backends.Need) bool { return n.Is == ir.Brokered.String() }

// Confines reports whether tools are started here at all.
func (h Host) Confines() bool { return h.ABI > tierNone }

// settle says under which terms a tool is started and at which tier. That is the best
// one of the host, unless the caller names every cell that only a boundary holds: who
// accepts all of them asks for a start without one. What the policy accepts does not
// count for that, since a repository must not take the boundary away.
func settle(req *Request, h Host) (terms, int, error) {
	l := req.Spec.Launch()
	if h.ABI > 0 && asksForLess(req, h) {
		h.ABI = 0
	}
	t, err := agree(req, &l, h, byLoader)
	return t, h.ABI, err
}

func asksForLess(req *Request, h Host) bool {
	held := Unmet(req.Spec, h)
	lost := slices.DeleteFunc(Unmet(req.Spec, Host{ABI: 0, Supervises: h.Supervises}), func(n backends.Need) bool {
		return slices.ContainsFunc(held, func(o backends.Need) bool { return o.Cell == n.Cell })
	})
	return len(lost) > 0 && !slices.ContainsFunc(lost, func(n backends.Need) bool { return !slices.Contains(req.Accept, n.Cell) })
}
