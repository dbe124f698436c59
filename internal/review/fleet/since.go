package fleet

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"maps"
	"os"
	"slices"

	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// Since lists the changes since an earlier run.
type Since struct {
	// Added and Removed are manifests that only one of the two runs has read.
	Added, Removed []string
	// Changes are the changes of tools and rulesets of manifests that both have, each with the name of its
	// manifest.
	Changes []ToolChange
	// Rulesets are the rulesets that differ, or that one side lacks.
	Rulesets []Named
	// Otherwise are tools with the same policy of which the ledger differs.
	Otherwise []Named
}

// Named is a tool or a ruleset of a manifest.
type Named struct {
	Manifest string `json:"manifest"`
	Name     string `json:"name"`
}

// ToolChange is the change of a tool.
type ToolChange struct {
	Manifest string
	explain.Change
}

// Widened reports whether a tool may do more, or is new.
func (s *Since) Widened() bool {
	more, _ := s.directions()
	return len(s.Added) > 0 || more > 0
}

// earlier is a snapshot, of which manifests are read as they are compared.
// See decision D273.
type earlier struct {
	file   *os.File
	places map[string]past
}

// past is a manifest of a snapshot.
type past struct {
	key  [sha256.Size]byte
	at   place
	path string
	seen bool
}

func (e *earlier) close() { _ = e.file.Close() }

// readEarlier reads where the manifests of a snapshot are. A damaged file is no snapshot.
func readEarlier(name string) (*earlier, error) {
	file, err := openRecord(name)
	if err != nil {
		return nil, err
	}
	out := &earlier{file: file, places: map[string]past{}}
	if err := out.index(); err != nil {
		out.close()
		return nil, err
	}
	return out, nil
}

func (e *earlier) index() error {
	r, err := newReader(e.file)
	for err == nil {
		from := r.offset
		var f *frame
		if f, err = r.next(); f == nil {
			break
		}
		var k *kept
		if k, err = unmarshalKept(f.facts); err != nil {
			return errRecord
		}
		if _, twice := e.places[k.Place]; twice || k.Place == "" {
			return errRecord
		}
		e.places[k.Place] = past{key: f.key, at: place{from, int(r.offset - from)}, path: k.Manifest.Path}
	}
	return err
}

// changed is the difference of a manifest that both runs have.
type changed struct {
	changes   []ToolChange
	rulesets  []Named
	otherwise []Named
	problem   error
}

// compare compares a manifest with the manifest of the same place in the snapshot.
func (s *survey) compare(l *look) {
	if s.since == nil || l.frame == nil {
		return
	}
	p, ok := s.since.places[l.place]
	if !ok || p.key == l.frame.key {
		return
	}
	l.changes = &changed{}
	if l.changes.problem = l.changes.read(s.since, p, l); l.changes.problem != nil {
		l.facts.Manifest.Problems = append(l.facts.Manifest.Problems, Problem{
			Class: Unreadable, Detail: "it cannot be compared with the snapshot: " + l.changes.problem.Error(),
		})
	}
}

func (c *changed) read(e *earlier, p past, l *look) error {
	data := make([]byte, p.at.size)
	if _, err := e.file.ReadAt(data, p.at.offset); err != nil {
		return err
	}
	f, err := (&reader{from: bufio.NewReader(bytes.NewReader(data))}).next()
	if err != nil || f == nil {
		return errRecord
	}
	before, err := sideOf(f)
	if err != nil {
		return err
	}
	after, err := sideOf(l.frame)
	if err != nil {
		return err
	}
	old, new := before.differing(after), after.differing(before)
	for _, change := range explain.Changes(old, new) {
		if change.Differs() {
			c.changes = append(c.changes, ToolChange{l.facts.Manifest.Path, change})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after.tools)) {
		if t := after.tools[name]; before.tools[name] != nil && before.tools[name].Policy == t.Policy &&
			before.tools[name].needs != t.needs {
			c.otherwise = append(c.otherwise, Named{l.facts.Manifest.Path, name})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(union(before.rulesets, after.rulesets))) {
		if before.rulesets[name] != after.rulesets[name] {
			c.rulesets = append(c.rulesets, Named{l.facts.Manifest.Path, name})
		}
	}
	return nil
}

func union(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// side is the tools of a manifest at one time.
type side struct {
	tools  map[string]*Tool
	parsed map[string]compare.Policy
	// rulesets are their hashes by name.
	rulesets map[string]string
}

func sideOf(f *frame) (*side, error) {
	k, err := unmarshalKept(f.facts)
	if err != nil {
		return nil, err
	}
	policies, err := inflate(f.policies)
	if err != nil || len(policies) != len(k.Manifest.Tools) {
		return nil, errRecord
	}
	out := &side{map[string]*Tool{}, map[string]compare.Policy{}, map[string]string{}}
	for _, r := range k.Manifest.Rulesets {
		out.rulesets[r.Name] = r.Policy
	}
	for i := range k.Manifest.Tools {
		t := &k.Manifest.Tools[i]
		out.tools[t.Name] = t
		if policies[i] == nil {
			continue // it could not be read, which is a problem of its own
		}
		tool, err := policies[i].Tool()
		if err != nil {
			return nil, err
		}
		out.parsed[t.Name] = compare.Policy{Tool: tool}
	}
	return out, nil
}

// differing are the policies that the other side has otherwise, or not at all, and the policies of servers and their
// tools.
func (s *side) differing(other *side) []compare.Policy {
	var out []compare.Policy
	for _, name := range slices.Sorted(maps.Keys(s.parsed)) {
		if t := other.tools[name]; t == nil || t.Policy != s.tools[name].Policy || t.Source != s.tools[name].Source ||
			ofServer(s.parsed[name].Tool) {
			out = append(out, s.parsed[name])
		}
	}
	return out
}

// ofServer reports whether a tool counts for what other tools of a server may do.
func ofServer(t *ir.Tool) bool { return t.Server() || t.Source.Kind == ir.SourceMCP }

// take adds the changes at a place.
func (s *Since) take(e *earlier, l *look) {
	p, known := e.places[l.place]
	switch {
	case l.frame == nil && !known:
		return // a problem is all that there is
	case !known:
		s.Added = append(s.Added, l.facts.Manifest.Path)
		return
	}
	p.seen = true // also if it cannot be read now, which is a problem
	e.places[l.place] = p
	if l.changes != nil {
		s.Changes = append(s.Changes, l.changes.changes...)
		s.Rulesets, s.Otherwise = append(s.Rulesets, l.changes.rulesets...), append(s.Otherwise, l.changes.otherwise...)
	}
}

// gone lists the manifests that are no longer there.
func (s *Since) gone(e *earlier) {
	for _, p := range e.places {
		if !p.seen {
			s.Removed = append(s.Removed, p.path)
		}
	}
	slices.Sort(s.Removed)
}
