package start

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/process/once"
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

func supervised(s *Spec) means { return means{s.Supervision.Supervises, landlock.Sentences, lastLevel} }

// Confines reports whether tools are started here at all.
func (h Host) Confines() bool { return h.ABI >= 1 }

// Observes is true where accessc can stay with a tool and see which calls are refused.
const Observes = true

// Traced changes a specification so that a supervisor sees all refused calls.
func Traced(s *Spec, t *ir.Tool, target backends.Target) error { return s.Trace(t, target) }

// Asking changes a specification so that a supervisor makes all calls that can be granted.
func Asking(s *Spec, t *ir.Tool, target backends.Target) error { return s.Ask(t, target) }

// underSupervisor reports whether this process is supervised, which does not change.
func underSupervisor() bool { return underSupervisorOnce.Get(supervisor.Supervised) }

var underSupervisorOnce once.Value[bool]

func settle(req *Request, h Host) (terms, error) {
	l := req.Spec.Launch
	s := req.Spec.Supervision
	t, err := supervised(req.Spec).agree(req, &l, h)
	if err == nil && !t.supervised && s != nil && len(s.Gaps) == 0 && !without(req, &l) {
		// It is of use, and nothing depends on it.
		t.supervised = h.Supervises && !underSupervisor()
	}
	if err != nil {
		return t, err
	}
	if !t.supervised {
		return t, closesKernels(req.Spec, req.Spec.Paths) // the ruleset knows files, not names
	}
	if err := closesKernels(req.Spec, s.Paths); err != nil {
		return t, err
	}
	l.Needs = foldedNames(req.Spec)
	names, err := means{unsupervised, landlock.Sentences, lastLevel}.agree(req, &l, Host{ABI: h.ABI})
	t.accepted = append(t.accepted, names.accepted...)
	return t, err
}

// without reports whether the caller or the policy does without a supervisor that answers calls on metadata alone:
// they are refused then.
// See decision D379.
func without(req *Request, l *backends.Launch) bool {
	gap := string(ir.GapFSMetadata)
	return req.Spec.Supervision.Judges == (landlock.Judges{}) && (slices.Contains(req.Accept, gap) || slices.Contains(l.Accept, gap))
}
