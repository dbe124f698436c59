package sandbox

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
)

// Spec is what is applied on this system.
type Spec = landlock.Spec

// Artifact is the name of the file that holds a specification.
const Artifact = "landlock.json"

// lastLevel is the last feature level that specifications know.
const lastLevel = landlock.MaxABI

// Parse reads a specification.
func Parse(data []byte) (*Spec, error) { return landlock.Parse(data) }

// Unmet returns what of a specification's needs a host does not meet, one entry per
// cell.
func Unmet(s *Spec, h Host) []backends.Need { return unmet(s.Needs, h, s.Supervision.Supervises) }

// Confines reports whether tools are started here at all.
func (h Host) Confines() bool { return h.ABI >= 1 }

func settle(req *Request, h Host) (terms, error) {
	l := req.Spec.Launch()
	return agree(req, &l, h, req.Spec.Supervision.Supervises)
}
