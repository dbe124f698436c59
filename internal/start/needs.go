package start

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Host is what of a system decides about the needs of a specification.
type Host struct {
	// ABI is the version of Landlock, 0 for none.
	ABI int
	// Supervises is true where tools can be started under a supervisor.
	Supervises bool
	// Groups are the controllers of the cgroups that can be made here; they hold
	// limits for all processes of a tool together.
	Groups []string
}

// groups reports whether a cgroup meets a need.
func (h Host) groups(n backends.Need) bool {
	kind, ok := strings.CutPrefix(n.Cell, "limits.")
	return ok && slices.Contains(h.Groups, controllers[kind])
}

// controllers are what holds a limit for all processes of a tool together, by its kind
// (Documentation/admin-guide/cgroup-v2.rst).
var controllers = map[string]string{ir.LimitMemory.String(): "memory", ir.LimitProcesses.String(): "pids"}

// applies reports whether a need is one at the host's level. What a newer kernel has is
// not known, so the last level that is stands for all behind it.
func (h Host) applies(n backends.Need) bool {
	return h.ABI >= n.From && (h.ABI <= n.To || n.To >= lastLevel)
}

// unmet returns the needs that a host does not meet, one entry per cell. Supervises
// says which of them a supervisor meets, where there is one.
func unmet(needs []backends.Need, h Host, supervises func(backends.Need) bool) []backends.Need {
	var out []backends.Need
	for _, n := range needs {
		if !h.applies(n) || h.Supervises && supervises(n) || h.groups(n) {
			continue
		}
		i := slices.IndexFunc(out, func(o backends.Need) bool { return o.Cell == n.Cell })
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

// agree refuses a start with unmet cells that nobody accepts, and says once which of
// them are accepted. Cells that only a supervisor holds buy a start without one when
// all of them are accepted.
func agree(req *Request, l *backends.Launch, h Host, supervises func(backends.Need) bool) (terms, error) {
	var t terms
	accepts := func(n backends.Need) bool {
		return slices.Contains(req.Accept, n.Cell) || slices.Contains(l.Accept, n.Cell)
	}
	for _, n := range l.Needs {
		t.supervised = t.supervised || h.Supervises && h.applies(n) && supervises(n) && !accepts(n)
	}
	var missing []backends.Need
	h.Supervises = t.supervised
	for _, n := range unmet(l.Needs, h, supervises) {
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
