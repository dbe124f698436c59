package start

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/ir"
)

// Spec is the specification that is applied on this system.
type Spec = winjob.Spec

// Artifact is the name of the file that holds a specification.
const Artifact = "winjob.json"

// lastLevel is the last feature level that specifications know.
const lastLevel = ir.BestTier

// tierNone is the level of a host on which nothing is started.
const tierNone = -1

// Parse reads a specification.
func Parse(data []byte) (*Spec, error) { return winjob.Parse(data) }

// Proxied reports whether a start of the specification needs the egress proxy: on Windows policies with hosts are
// closed.
func Proxied(*Spec) bool { return false }

// Unmet returns the gaps of a host under a specification, one entry per name.
func Unmet(s *Spec, h Host) ([]Gap, error) { return byLoader.unmet(s.Launch.Needs, h) }

// byLoader is how the loader meets requirements: by staying.
var byLoader = means{func(n backends.Row) bool { return n.Is == ir.Supervised.String() }, winjob.Sentences, lastLevel}

// Confines reports whether tools are started here at all.
func (h Host) Confines() bool { return h.ABI > tierNone }

// settle determines the terms under which a tool is started, and the tier. That is the best one
// of the host, unless the caller names every requirement that only a boundary enforces: a
// caller that accepts all of them asks for a start without one. Acceptance by the policy does
// not count for that, since a repository must not take the boundary away.
func settle(req *Request, h Host) (terms, int, error) {
	l := req.Spec.Launch
	if h.ABI > 0 {
		less, err := asksForLess(req, h)
		if err != nil {
			return terms{}, h.ABI, failed("%w", err)
		}
		if less {
			h.ABI = 0
		}
	}
	t, err := byLoader.agree(req, &l, h)
	return t, h.ABI, err
}

// See decision D80.
func asksForLess(req *Request, h Host) (bool, error) {
	held, err := Unmet(req.Spec, h)
	if err != nil {
		return false, err
	}
	lost, err := Unmet(req.Spec, Host{ABI: 0, Supervises: h.Supervises})
	if err != nil {
		return false, err
	}
	lost = slices.DeleteFunc(lost, func(n Gap) bool {
		return slices.ContainsFunc(held, func(o Gap) bool { return o.Name == n.Name })
	})
	return len(lost) > 0 && !slices.ContainsFunc(lost, func(n Gap) bool { return !slices.Contains(req.Accept, string(n.Name)) }), nil
}
