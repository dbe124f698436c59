package start

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// Host is the part of a system that decides which needs of a specification are met.
type Host struct {
	// ABI is the version of Landlock, 0 for none.
	ABI int
	// Supervises is true where tools can be started under a supervisor.
	Supervises bool
	// Groups are the controllers of the cgroups that can be made here; they enforce limits for
	// all processes of a tool together.
	Groups []string
}

// groups reports whether a cgroup meets a requirement.
func (h Host) groups(n backends.Row) bool {
	kind, ok := strings.CutPrefix(n.Gap, "limits.")
	return ok && slices.Contains(h.Groups, controller(kind))
}

// controller is the cgroup controller of a kind of limit for all processes of a tool together, empty if nothing does
// (Documentation/admin-guide/cgroup-v2.rst).
func controller(kind string) string {
	switch kind {
	case ir.LimitMemory.String():
		return "memory"
	case ir.LimitProcesses.String():
		return "pids"
	}
	return ""
}

// applies reports whether a requirement is one at the host's level. A level above the last
// that is known counts as the last.
func (m means) applies(n backends.Row, h Host) bool {
	return h.ABI >= n.From && (h.ABI <= n.To || n.To >= m.last)
}

// Gap is a requirement of a policy that a host does not meet.
type Gap struct {
	Name ir.Gap
	// Is is the weakest of the rows that the gap is about.
	Is ir.Enforcement
	// Why is the causes in words.
	Why string
}

// means is how the loader of a system meets requirements by itself, and the sentences for
// those that it does not meet.
type means struct {
	supervises func(backends.Row) bool
	sentences  func() backends.Sentences
	last       int // the last feature level that is known
}

func unsupervised(backends.Row) bool { return false }

// unmet returns the requirements that a host does not meet, one entry per gap.
func (m means) unmet(needs []backends.Row, h Host) ([]Gap, error) {
	var open ir.Ledger
	for _, n := range needs {
		if !m.applies(n, h) || h.Supervises && m.supervises(n) || h.groups(n) {
			continue
		}
		row, err := n.Row()
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(open, func(o ir.Row) bool { return o.Gap == row.Gap })
		if i < 0 {
			open = append(open, row)
			continue
		}
		open[i].Is = max(open[i].Is, row.Is)
		for _, c := range row.Causes {
			if !slices.Contains(open[i].Causes, c) {
				open[i].Causes = append(slices.Clip(open[i].Causes), c)
			}
		}
	}
	var out []Gap
	for _, row := range open {
		out = append(out, Gap{row.Gap, row.Is, m.sentences().All(row.Causes)})
	}
	return out, nil
}

// terms are the conditions under which a tool is started.
type terms struct {
	// accepted are the gaps that stay open.
	accepted []string
	// supervised is true where a supervisor meets the requirements that were not accepted as
	// gaps.
	supervised bool
}

// agree refuses a start with gaps that are not accepted, and says once which gaps are.
// Requirements that only a supervisor meets buy a start without one when all of them are
// accepted as gaps.
func (m means) agree(req *Request, l *backends.Launch, h Host) (terms, error) {
	var t terms
	accepts := func(gap string) bool { return slices.Contains(req.Accept, gap) || slices.Contains(l.Accept, gap) }
	for _, n := range l.Needs {
		t.supervised = t.supervised || h.Supervises && m.applies(n, h) && m.supervises(n) && !accepts(n.Gap)
	}
	h.Supervises = t.supervised
	gaps, err := m.unmet(l.Needs, h)
	if err != nil {
		return t, failed("%w", err)
	}
	var missing []Gap
	for _, g := range gaps {
		if accepts(string(g.Name)) {
			t.accepted = append(t.accepted, string(g.Name))
		} else {
			missing = append(missing, g)
		}
	}
	if len(missing) > 0 {
		return t, &Error{
			Code: CodeFailed, Unmet: missing, Err: fmt.Errorf("this host does not meet %s of this policy", plural.Count(len(missing), "requirement")),
		}
	}
	if len(t.accepted) > 0 {
		_, _ = io.WriteString(req.Messages, "accessc: accepted, not enforced: "+strings.Join(t.accepted, ", ")+"\n")
	}
	return t, nil
}
