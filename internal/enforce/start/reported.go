package start

import (
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// The findings by which another program tells the means of a host; their names are part of the report's form.
const (
	supervisionName = "supervision"
	cgroupName      = "cgroup v2 delegation"
	jobsName        = "job objects"
	containersName  = "AppContainers"
)

// Means are those of the host that a report is about, which may be of another system than this one.
func (r *Report) Means() (ir.Platform, Host) {
	switch {
	case strings.HasPrefix(r.System, "Linux "):
		h := Host{ABI: r.Landlock, Supervises: r.state(supervisionName) == Present}
		if r.state(cgroupName) == Present {
			h.Groups = []string{"memory", "pids"}
		}
		return ir.Linux, h
	case strings.HasPrefix(r.System, "Windows "):
		h := Host{ABI: -1, Supervises: true}
		for _, name := range []string{jobsName, containersName} {
			if r.state(name) == Present {
				h.ABI++
			}
		}
		return ir.Windows, h
	case strings.HasPrefix(r.System, "macOS "):
		return ir.Darwin, Host{}
	}
	return 0, Host{}
}

// state is that of a finding; one that is not there is missing.
func (r *Report) state(name string) State {
	for _, f := range r.Findings {
		if f.Name == name {
			return f.State
		}
	}
	return Missing
}

// UnmetBy returns the gaps that a tool's ledger has on a host of any system, one entry per name. Causes are told by
// their identifiers.
func UnmetBy(p ir.Platform, h Host, needs []backends.Row) ([]Gap, error) {
	m := means{
		supervises: func(n backends.Row) bool { return n.Is == ir.Supervised.String() },
		sentences:  func() backends.Sentences { return nil },
	}
	switch p {
	case ir.Linux:
		m.last = landlock.MaxABI
	case ir.Windows:
		m.last = ir.BestTier
	case ir.Darwin:
	}
	return m.unmet(needs, h)
}
