package winjob

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Bounds of a search for names. Beyond them nothing is started.
const (
	maxSearched = 1 << 20 // names that are looked at
	maxNamed    = 4096    // names that get a list, each of which is held open
)

// Child is a name that is found in a directory.
type Child struct {
	Name string // without the directory
	Dir  bool   // other names may be in it
	// Link is true where the name stands for another place, whose rules decide: a symbolic link or a junction.
	Link bool
}

// Named searches the places of rules by name and returns an entry for each name that is there, has no entry by its
// path, and is granted something else than the directory that it is in; directories before what is in them. list
// returns the names in a directory, none where it is not there.
func (f FileAccess) Named(list func(dir string) ([]Child, error)) ([]Entry, error) {
	s := search{list: list, entries: map[string]Entry{}, patterns: map[string][]Pattern{}}
	for _, e := range f.Entries {
		s.entries[fold(e.Path)] = e
	}
	var order []string
	for _, p := range f.Patterns {
		key := fold(p.Path)
		if s.patterns[key] == nil {
			order = append(order, p.Path)
		}
		s.patterns[key] = append(s.patterns[key], p)
	}
	for _, place := range order {
		if err := s.below(place, s.words(place), s.patterns[fold(place)]); err != nil {
			return nil, err
		}
	}
	return s.found, nil
}

// search is a search for names.
type search struct {
	list     func(dir string) ([]Child, error)
	entries  map[string]Entry     // by their paths, folded
	patterns map[string][]Pattern // the same
	searched int
	found    []Entry
}

// words are those of the entry at a path, or else next above it.
func (s *search) words(p string) []Grant {
	for {
		if e, ok := s.entries[fold(p)]; ok {
			return e.Grants
		}
		up := strings.LastIndexByte(p, '\\')
		if up < 0 {
			return nil
		}
		p = p[:up]
	}
}

// below searches a directory in which words are granted.
func (s *search) below(dir string, words []Grant, rules []Pattern) error {
	if !slices.ContainsFunc(rules, func(p Pattern) bool { return len(p.Names) > 0 }) {
		return nil
	}
	children, err := s.list(dir)
	if err != nil {
		return fmt.Errorf("%s cannot be searched for the names of rules: %w", dir, err)
	}
	if s.searched += len(children); s.searched > maxSearched {
		return fmt.Errorf("more than %d names are below the places of rules by name: name directories instead", maxSearched)
	}
	for _, c := range children {
		p := dir + `\` + c.Name
		own, planned := s.entries[fold(p)]
		switch {
		case s.patterns[fold(p)] != nil || c.Link:
			continue
		case planned:
			// An entry by path decides here.
		default:
			own.Grants = words
			if rule, ok := deciding(rules, c.Name); ok {
				own.Grants = rule.Grants
				if err := s.name(p, words, rule); err != nil {
					return err
				}
			}
		}
		if c.Dir {
			if err := s.below(p, own.Grants, rules); err != nil {
				return err
			}
		}
	}
	return nil
}

// deciding is the last rule about a name.
func deciding(rules []Pattern, name string) (Pattern, bool) {
	for _, p := range slices.Backward(rules) {
		if ir.MatchNamesFolded(p.Names, name) {
			return p, true
		}
	}
	return Pattern{}, false
}

// name makes an entry for a name in a directory where words are granted.
func (s *search) name(p string, words []Grant, rule Pattern) error {
	lacks := func(have []Grant) func(Grant) bool {
		return func(w Grant) bool { return w != GrantEnter && !slices.Contains(have, w) }
	}
	e := Entry{Path: p, DACL: DACLGrant, Grants: rule.Grants, Absent: AbsentSkip, Rule: rule.Rule}
	switch {
	case slices.ContainsFunc(words, lacks(rule.Grants)):
		e.DACL = DACLProtected
	case !slices.ContainsFunc(rule.Grants, lacks(words)):
		return nil
	}
	if s.found = append(s.found, e); len(s.found) > maxNamed {
		return fmt.Errorf("more than %d files have names of the rule %s: name a directory instead", maxNamed, rule.Rule)
	}
	return nil
}
