package hostfacts

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// Reach is a sensitive path and a tool's access to it.
type Reach struct {
	// At is the sensitive place.
	At ir.Location
	// Pattern is the pattern that covers the path.
	Pattern string
	// Caps are the tool's capabilities there.
	Caps ir.CapSet
	// Rule is the rule that grants them.
	Rule *ir.FSRule
}

// String names the path and the granted operations. A path in the user's home is named as such,
// since the symlink that leads there does not show it.
func (r Reach) String() string {
	path := r.At.Short()
	switch {
	case strings.HasPrefix(r.Pattern, "~/"):
		path += ", in " + r.Pattern
	case r.Pattern == credential:
		path += ", which may hold " + credential
	}
	return path + " (" + r.Caps.String() + ")"
}

// Reaches lists the sensitive paths that a tool's own rules let it reach on this host: paths
// that exist, paths that rules name, and paths in the user's home that external rules lead to,
// approved or not. The default rules do not count.
// See decision D225.
func (r *Result) Reaches(t *ir.Tool) []Reach {
	if !t.Declared.FS || t.Source.Kind != ir.SourceLocal {
		return nil
	}
	facts := r.Facts(t)
	// Where they lead now, also where a portable compilation has left them open.
	facts.Bindings.External = map[string]string{}
	for name, found := range r.leads(t) {
		facts.Bindings.External[name] = found.Abs
	}
	s := search{result: r, tool: t, bind: facts.Bindings, view: ir.NewView(t, Platform(), facts),
		found: map[ir.Location]string{}, absent: map[ir.Location]bool{}}
	for i := range t.FS {
		s.named(&t.FS[i])
	}
	for _, root := range s.bind.Roots() {
		if root.Kind == ir.Workspace || root.Kind == ir.External {
			s.below(root)
		}
	}
	s.inHome()
	s.inRepository()
	return s.reaches()
}

// search is one search for the sensitive paths that a tool reaches.
type search struct {
	result *Result
	tool   *ir.Tool
	bind   *ir.Bindings
	view   *ir.View
	// found maps a sensitive place to the pattern that covers it.
	found map[ir.Location]string
	// absent are the paths of the user's home that are not there: to make them is all that
	// can be done to them.
	absent map[ir.Location]bool
}

func (s *search) add(at ir.Location, pattern string) {
	if _, ok := s.found[at]; !ok {
		s.found[at] = pattern
	}
}

// named looks at the path that a rule is written for, which need not exist.
func (s *search) named(r *ir.FSRule) {
	for _, p := range s.tool.Sensitive {
		if p.Covers(r.At.Short()) {
			s.add(r.At, p.Pattern)
		}
	}
}

// below searches the existing files below a root.
func (s *search) below(root ir.Root) {
	for _, at := range s.result.names(root, s.bind) {
		for _, p := range s.tool.Sensitive {
			if p.Covers(at.Short()) {
				s.add(at, p.Pattern)
			}
		}
	}
}

// inHome searches the places in the user's home, from both sides: the place may lie in a
// directory that a rule grants, or contain such a directory.
func (s *search) inHome() {
	home := filepath.ToSlash(s.result.home)
	if home == "" {
		return
	}
	for _, p := range s.tool.Sensitive {
		rest, ok := strings.CutPrefix(p.Pattern, "~/")
		if !ok {
			continue
		}
		place, tree := strings.CutSuffix(rest, "/")
		found, err := s.result.Resolver.Disk.Follow(home + "/" + place)
		if err != nil {
			continue
		}
		at := s.bind.Locate(found.Abs)
		s.add(at, p.Pattern)
		s.absent[at] = found.Kind == ir.Absent
		for i := range s.tool.FS {
			abs, bound := s.bind.Path(s.tool.FS[i].At)
			if rest, inside := resolve.Below(abs, found.Abs); bound && inside && (tree || rest == "") {
				s.add(s.tool.FS[i].At, p.Pattern)
			}
		}
	}
}

// inRepository adds the configuration of a linked work tree's repository that may hold a credential.
func (s *search) inRepository() {
	if repo := s.result.Repository(); repo != nil && repo.Secret != "" {
		s.add(s.bind.Locate(repo.Secret), credential)
	}
}

// credential is in the place of a pattern for a file of git's that may hold a credential.
const credential = "a credential of git's"

// reaches asks the policy about the found places.
func (s *search) reaches() []Reach {
	var out []Reach
	for at, pattern := range s.found {
		r := Reach{At: at, Pattern: pattern}
		for _, c := range []ir.Capability{ir.Read, ir.Create, ir.Update, ir.Delete} {
			v := s.view.Decide(ir.Access{Cap: c, On: ir.Direct(at)})
			rule, ok := v.Rule.(*ir.FSRule)
			if v.Allowed() && ok && rule.Origin.Layer > ir.LayerImplied {
				r.Caps, r.Rule = r.Caps.With(c), rule
			}
		}
		if r.Caps != 0 && !(s.absent[at] && !r.Caps.Has(ir.Create)) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Reach) int { return strings.Compare(a.At.Short(), b.At.Short()) })
	return out
}

// names lists the existing paths below a root that are sensitive for some tool, each root once.
func (r *Result) names(root ir.Root, b *ir.Bindings) []ir.Location {
	if list, ok := r.sensitive[root]; ok {
		return list
	}
	var patterns []ir.SensitivePattern
	for _, t := range r.Program.Tools {
		patterns = append(patterns, t.Sensitive...)
	}
	slices.SortFunc(patterns, func(a, b ir.SensitivePattern) int { return cmp.Compare(a.Pattern, b.Pattern) })
	patterns = slices.CompactFunc(patterns, func(a, b ir.SensitivePattern) bool { return a.Pattern == b.Pattern })
	list := r.search(ir.Location{Root: root}, b, patterns)
	if r.sensitive == nil {
		r.sensitive = map[ir.Root][]ir.Location{}
	}
	r.sensitive[root] = list
	return list
}

// search searches below a place for names that a pattern covers.
func (r *Result) search(top ir.Location, b *ir.Bindings, patterns []ir.SensitivePattern) []ir.Location {
	abs, ok := b.Path(top)
	if !ok {
		return nil
	}
	var out []ir.Location
	for _, name := range r.view.Search(abs, strings.TrimSuffix(top.Child("x").Short(), "x"), patterns) {
		out = append(out, top.Child(name))
	}
	return out
}

// SensitiveFindings warns of sensitive paths that tools reach, once for each rule.
func (r *Result) SensitiveFindings(tools []*ir.Tool) diag.List {
	var out diag.List
	for _, t := range tools {
		r.reached(&out, t, t.Name+" reaches ")
		if len(t.May) > 0 {
			r.reached(&out, granted(t), t.Name+" may be granted, while it runs, ")
		}
	}
	out.Sort()
	return out
}

// granted has as its policy the list May of a tool.
func granted(t *ir.Tool) *ir.Tool {
	out := *t
	out.FS, out.May, out.Base, out.Declared.FS = t.May, nil, ir.BaseNone, true
	return &out
}

// reached warns of the sensitive paths that one tool reaches.
func (r *Result) reached(out *diag.List, t *ir.Tool, how string) {
	byRule := map[*ir.FSRule][]Reach{}
	for _, reach := range r.Reaches(t) {
		byRule[reach.Rule] = append(byRule[reach.Rule], reach)
	}
	for rule, reaches := range byRule {
		d := aboutPath(diag.SensitiveReach, rule, how+someOf(reaches))
		d.Hint = withdraw(rule, reaches[0].At)
		out.Add(d)
	}
}

// withdraw returns the change to the configuration that takes a place out of a rule.
func withdraw(rule *ir.FSRule, at ir.Location) string {
	switch {
	case at == rule.At:
		return "if that is not meant, take the rule's capabilities away"
	default:
		return fmt.Sprintf("if that is not meant, add { path = %q }, which grants nothing", at.Spelled())
	}
}

// someOf names three of a list and counts the others.
func someOf(reaches []Reach) string {
	const shown = 3
	var names []string
	for _, r := range reaches[:min(shown, len(reaches))] {
		names = append(names, r.String())
	}
	text := strings.Join(names, ", ")
	if more := len(reaches) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
