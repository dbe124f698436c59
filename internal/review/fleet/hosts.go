package fleet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
)

// Host is a host by its report.
type Host struct {
	Name     string // of the report's file, without its extension
	Report   start.Report
	platform ir.Platform
	means    start.Host
}

// report is the form in which accessc doctor prints a report.
type report struct {
	Version int `json:"format_version"`
	start.Report
}

// maxReport bounds the size of a report, in bytes.
const maxReport = 1 << 20

// ReadHost reads the report that accessc doctor --format json has printed on a host.
func ReadHost(file string) (*Host, error) {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = errKind
	}
	if err != nil {
		return nil, oserr.Reason(err)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, oserr.Reason(err)
	}
	defer f.Close()
	data, err := bounded.Read(f, maxReport)
	if err != nil {
		return nil, oserr.Reason(err)
	}
	return parseHost(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), data)
}

func parseHost(name string, data []byte) (*Host, error) {
	var r report
	if err := strictjson.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("not a report of accessc doctor --format json: %w", err)
	}
	if err := contradiction(&r.Report); err != nil {
		return nil, fmt.Errorf("not a report of accessc doctor --format json: %w", err)
	}
	h := &Host{Name: name, Report: r.Report}
	if h.platform, h.means = r.Means(); r.Version != 1 || h.platform == 0 {
		return nil, fmt.Errorf("not a report that this version reads: version %d, system %q", r.Version, r.System)
	}
	return h, nil
}

// contradiction returns an error for a report that no accessc has written. A report that says two things could be read
// as a host that holds everything.
func contradiction(r *start.Report) error {
	seen := map[string]bool{}
	for _, f := range r.Findings {
		if seen[f.Name] {
			return fmt.Errorf("%q is found twice", f.Name)
		}
		seen[f.Name] = true
	}
	switch platform, _ := r.Means(); {
	case r.Landlock < 0:
		return fmt.Errorf("found the Landlock ABI %d", r.Landlock)
	case platform == ir.Linux && r.Confines && r.Landlock == 0:
		return errors.New("it says that tools are confined, and that there is no Landlock")
	}
	return nil
}

// need is a requirement of a tool: a row of its ledger without the rules and aspects that it is about.
type need struct {
	platform string
	from, to int
	is, gap  string
}

// String is the form in the record.
func (n need) String() string {
	return fmt.Sprintf("%s %d %d %s %s", n.platform, n.from, n.to, n.is, n.gap)
}

// rows reads needs of a platform from their form in the record.
func rows(needs string, p ir.Platform) []backends.Row {
	var out []backends.Row
	for line := range strings.Lines(needs) {
		w := append(strings.Split(strings.TrimSuffix(line, "\n"), " "), "", "", "", "", "")
		from, err := strconv.Atoi(w[1])
		to, errTo := strconv.Atoi(w[2])
		if w[0] == p.String() && err == nil && errTo == nil {
			out = append(out, backends.Row{Resource: ir.Process.String(), Platform: w[0], From: from, To: to,
				Is: w[3], Gap: w[4]})
		}
	}
	return out
}

// Lack is a gap of tools on a host that neither the host nor their policies close.
type Lack struct {
	Gap   string `json:"gap"`
	Means string `json:"means,omitempty"` // the effect of the gap, in words
	// Tools are the tools that have it, as places in Fleet.Manifests.
	tools []at
	Count int `json:"tools"` // how many they are
}

// Held is how a host holds the policies of all tools.
type Held struct {
	*Host
	// Lacks are the gaps by name. The tools that do not start are Stops.
	Lacks []Lack
	Stops int
	Tools int // that accessc confines
}

// at is a tool of a fleet.
type at struct{ manifest, tool int }

// held asks which tools' needs a host does not meet. Tools of a host that confines nothing do not start at all.
func (f *Fleet) held(h *Host) (*Held, error) {
	out := &Held{Host: h}
	lacks := map[string][]at{}
	known := map[string][]string{}
	for i := range f.Manifests {
		for j := range f.Manifests[i].Tools {
			t := &f.Manifests[i].Tools[j]
			if !t.Confined {
				continue
			}
			out.Tools++
			gaps, ok := known[t.needs]
			if !ok {
				var err error
				if gaps, err = h.gaps(t.needs); err != nil {
					return nil, err
				}
				known[t.needs] = gaps
			}
			stops := !h.Report.Confines
			for _, g := range gaps {
				if !slices.Contains(t.Accepts, g) {
					lacks[g], stops = append(lacks[g], at{i, j}), true
				}
			}
			if stops {
				out.Stops++
			}
		}
	}
	for gap, tools := range lacks {
		out.Lacks = append(out.Lacks, Lack{Gap: gap, Means: ir.Gap(gap).Effect(), tools: tools, Count: len(tools)})
	}
	slices.SortFunc(out.Lacks, func(a, b Lack) int { return strings.Compare(a.Gap, b.Gap) })
	return out, nil
}

// gaps are the requirements that a host does not meet, by name. Gaps without a name cannot be accepted: without them
// nothing is confined.
func (h *Host) gaps(needs string) ([]string, error) {
	unmet, err := start.UnmetBy(h.platform, h.means, rows(needs, h.platform))
	var out []string
	for _, g := range unmet {
		if g.Name != "" {
			out = append(out, string(g.Name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), err
}
