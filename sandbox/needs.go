package sandbox

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends/landlock"
)

// Host is what of a system decides about the needs of a specification.
type Host struct {
	// ABI is the version of Landlock, 0 for none.
	ABI int
	// Supervises is true where tools can be started under a supervisor.
	Supervises bool
}

// applies reports whether a need is one at the host's level.
func (h Host) applies(n landlock.Need) bool {
	return h.ABI >= n.From && (h.ABI <= n.To || n.To == landlock.MaxABI)
}

// Unmet returns what of a specification's needs a host does not meet, one entry per
// cell.
func Unmet(s *landlock.Spec, h Host) []landlock.Need {
	var out []landlock.Need
	for _, n := range s.Needs {
		if !h.applies(n) || h.Supervises && s.Supervision.Supervises(n) {
			continue
		}
		i := slices.IndexFunc(out, func(o landlock.Need) bool { return o.Cell == n.Cell })
		if i < 0 {
			out = append(out, n)
			continue
		}
		if !strings.Contains(out[i].Why, n.Why) {
			out[i].Why += "; " + n.Why
		}
	}
	return out
}

// terms are under what a tool is started.
type terms struct {
	// accepted are the cells that are not held.
	accepted []string
	// supervised is true where a supervisor holds what was not accepted unheld.
	supervised bool
}

// settle refuses a start with unmet cells that nobody accepts, and says once which of
// them are accepted. Cells that only a supervisor holds buy a start without one when
// all of them are accepted.
func settle(req *Request, h Host) (terms, error) {
	var t terms
	accepts := func(n landlock.Need) bool {
		return slices.Contains(req.Accept, n.Cell) || slices.Contains(req.Spec.Accept, n.Cell)
	}
	for _, n := range req.Spec.Needs {
		t.supervised = t.supervised || h.Supervises && h.applies(n) && req.Spec.Supervision.Supervises(n) && !accepts(n)
	}
	var missing []landlock.Need
	for _, n := range Unmet(req.Spec, Host{h.ABI, t.supervised}) {
		if accepts(n) {
			t.accepted = append(t.accepted, n.Cell)
		} else {
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 {
		return t, &Error{
			Code: CodeFailed, Unmet: missing, Err: fmt.Errorf("this host does not hold %s of this policy", cells(len(missing))),
		}
	}
	if len(t.accepted) > 0 {
		_, _ = io.WriteString(req.Messages, "accessc: accepted, not enforced: "+strings.Join(t.accepted, ", ")+"\n")
	}
	return t, nil
}

func cells(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return fmt.Sprintf("%d cells", n)
}
