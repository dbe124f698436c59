package fleet

import (
	"cmp"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Summary counts the tools of a fleet, and the access that they have. The lists have the most frequent first.
type Summary struct {
	Manifests int `json:"manifests"` // that could be read
	Tools     int `json:"tools"`
	Confined  int `json:"confined"` // tools that accessc starts, which all numbers below are about
	High      int `json:"high"`     // by risk
	Medium    int `json:"medium"`
	Low       int `json:"low"`
	Live      int `json:"live"` // tools to which more can be granted while they run
	// Sensitive are patterns of sensitive paths that grants reach, Outside the places beside the workspace that
	// something is granted at, Changed the places where anything may be written.
	Sensitive []Count `json:"sensitive"`
	Outside   []Count `json:"outside"`
	Written   []Count `json:"written"`
	// Networked is how many tools reach any host; Network and Listens are the rules, Accepts the gaps that policies
	// accept.
	Networked int       `json:"networked"`
	Network   []Count   `json:"network"`
	Listens   []Count   `json:"listens"`
	Accepts   []Count   `json:"accepts"`
	Artifacts Artifacts `json:"artifacts"`
	// Verified is how many manifests were compiled anew; Problems counts everything that is wrong.
	Verified int `json:"verified"`
	Problems int `json:"problems"`
}

// Count is a thing that several tools have.
type Count struct {
	Name      string `json:"name"`
	Tools     int    `json:"tools"`
	Manifests int    `json:"manifests"`
	First     Named  `json:"first"` // tool that has it
}

// tally counts things.
type tally map[string]*counted

type counted struct {
	Count
	last int // manifest that was counted
}

func (t tally) add(names []string, manifest int, first Named) {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		c := t[name]
		if c == nil {
			c = &counted{Count{Name: name, First: first}, -1}
			t[name] = c
		}
		c.Tools++
		if c.last != manifest {
			c.Manifests, c.last = c.Manifests+1, manifest
		}
	}
}

func (t tally) sorted() []Count {
	out := make([]Count, 0, len(t))
	for _, c := range t {
		out = append(out, c.Count)
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Or(b.Tools-a.Tools, cmp.Compare(a.Name, b.Name)) })
	return out
}

// Summary counts.
func (f *Fleet) Summary() Summary {
	var s Summary
	sensitive, outside, written, network, listens, accepts := tally{}, tally{}, tally{}, tally{}, tally{}, tally{}
	for i := range f.Manifests {
		m := &f.Manifests[i]
		s.manifest(m)
		for j := range m.Tools {
			t := &m.Tools[j]
			s.tool(t)
			of := Named{m.Path, t.Name}
			sensitive.add(t.Sensitive, i, of)
			outside.add(t.places(false), i, of)
			written.add(t.places(true), i, of)
			network.add(t.Network, i, of)
			listens.add(t.Listens, i, of)
			accepts.add(t.Accepts, i, of)
		}
	}
	s.Sensitive, s.Outside, s.Written = sensitive.sorted(), outside.sorted(), written.sorted()
	s.Network, s.Listens, s.Accepts = network.sorted(), listens.sorted(), accepts.sorted()
	return s
}

func (s *Summary) manifest(m *Manifest) {
	if m.readable() {
		s.Manifests++
	}
	if m.Compiled {
		s.Verified++
	}
	s.Problems += len(m.Problems)
	s.Artifacts.Match += m.Artifacts.Match
	s.Artifacts.Absent += m.Artifacts.Absent
	s.Artifacts.Wrong += m.Artifacts.Wrong
}

// readable reports whether the tools of a manifest are known.
func (m *Manifest) readable() bool { return m.Form != "" }

func (s *Summary) tool(t *Tool) {
	s.Tools++
	if !t.Confined {
		return
	}
	s.Confined++
	switch t.Risk {
	case ir.RiskHigh.String():
		s.High++
	case ir.RiskMedium.String():
		s.Medium++
	case ir.RiskLow.String():
		s.Low++
	}
	if t.Live {
		s.Live++
	}
	if len(t.Network) > 0 {
		s.Networked++
	}
}

// places are the places beside the workspace, all of them or only where something may be
// written.
func (t *Tool) places(written bool) []string {
	var out []string
	for _, p := range t.Outside {
		if !written || slices.ContainsFunc(p.Capabilities, writes) {
			out = append(out, p.Place)
		}
	}
	return out
}

func writes(word string) bool {
	c, ok := ir.ParseCapability(word)
	return ok && ir.Write.Has(c)
}

// risky are the tools of a risk or a higher risk.
func (f *Fleet) risky(least ir.Risk) []at {
	var out []at
	for i := range f.Manifests {
		for j := range f.Manifests[i].Tools {
			if ir.ParseRisk(f.Manifests[i].Tools[j].Risk) >= least {
				out = append(out, at{i, j})
			}
		}
	}
	risk := func(a at) ir.Risk { return ir.ParseRisk(f.tool(a).Risk) }
	slices.SortStableFunc(out, func(a, b at) int { return cmp.Compare(risk(b), risk(a)) })
	return out
}

func (f *Fleet) tool(a at) *Tool { return &f.Manifests[a.manifest].Tools[a.tool] }

// because says in a few words which grants a tool has.
func (t *Tool) because() string {
	var out []string
	if len(t.Network) > 0 {
		out = append(out, "reaches "+several(t.Network))
	}
	if len(t.Listens) > 0 {
		out = append(out, several(t.Listens))
	}
	if places := t.places(true); len(places) > 0 {
		out = append(out, "writes "+several(places))
	} else if places := t.places(false); len(places) > 0 {
		out = append(out, "has "+several(places))
	}
	return strings.Join(out, "; ")
}

// several is the first of a list.
func several(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return list[0] + " and " + count(len(list)-1) + " more"
}
