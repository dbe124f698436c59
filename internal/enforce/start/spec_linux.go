package start

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// Spec is the specification that is applied on this system.
type Spec = landlock.Spec

// Artifact is the name of the file that holds a specification.
const Artifact = "landlock.json"

// lastLevel is the last feature level that specifications know.
const lastLevel = landlock.MaxABI

// Parse reads a specification.
func Parse(data []byte) (*Spec, error) { return landlock.Parse(data) }

// Unmet returns the gaps of a host under a specification, one entry per name.
func Unmet(s *Spec, h Host) ([]Gap, error) { return supervised(s).unmet(s.Needs, h) }

// Proxied reports whether a start of the specification needs the egress proxy.
func Proxied(s *Spec) bool { return s.Supervision != nil && s.Supervision.Egress }

func supervised(s *Spec) means { return means{s.Supervision.Supervises, landlock.Sentences, lastLevel} }

// Confines reports whether tools are started here at all.
func (h Host) Confines() bool { return h.ABI >= 1 }

// Observes is true where accessc can stay with a tool and see which calls are refused.
const Observes = true

// Traced changes a specification so that a supervisor sees all refused calls.
func Traced(s *Spec, t *ir.Tool, target backends.Target) error { return s.Trace(t, target) }

// Asking changes a specification so that a supervisor makes all calls that can be granted.
func Asking(s *Spec, t *ir.Tool, target backends.Target) error { return s.Ask(t, target) }
