package compare

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// nameCell is a part of a cell that rules by name cut out of it: the names, in any directory of the cell, from
// which on the same two rules decide.
type nameCell struct {
	*place
	// by are the rules that decide, nil where none does.
	by [2]*ir.FSRule
	// in is the place of the cell around.
	in ir.Location
	// beside are the patterns of rules that are about none of the names.
	beside []string
}

// nameState is the state of both policies at a name.
type nameState struct {
	by       [2]*ir.FSRule
	old, new ir.CapSet
}

func (c *comparison) stateAt(at ir.Location) nameState {
	s := nameState{old: caps(c.old, at), new: caps(c.new, at)}
	for i, v := range [...]*ir.View{c.old, c.new} {
		s.by[i], _ = v.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at)}).Rule.(*ir.FSRule)
	}
	return s
}

// text is the place of a cell in words: for the names of rules by name their patterns.
func (p *place) text() string {
	if len(p.byText) > 0 {
		return p.byText
	}
	return p.at.Short()
}

// patterns are the lists of patterns of both policies' rules about names in a cell, each rule's by itself.
func (p *place) patterns() [][]string {
	var out [][]string
	for _, rules := range p.rules {
		for _, e := range rules {
			out = append(out, e.Rule.Names)
		}
	}
	return out
}

// classes are names that stand for all names in a cell but those that have cells of their own.
func (c *comparison) classes(patterns [][]string, taken []string) []string {
	names := c.nameClasses(patterns, nil)
	if !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(taken, n) }) {
		return names
	}
	// Few of the taken names matter: those that patterns match, and those that stand for others.
	avoid := slices.DeleteFunc(slices.Clone(taken), func(n string) bool {
		return !slices.Contains(names, n) && !matched(patterns, n)
	})
	return c.nameClasses(patterns, avoid)
}

// matched reports whether a pattern of some list matches a name.
func matched(lists [][]string, name string) bool {
	return slices.ContainsFunc(lists, func(list []string) bool { return ir.MatchNames(list, name) })
}

func (c *comparison) nameClasses(patterns [][]string, avoid []string) []string {
	key := ""
	for _, list := range append(slices.Clone(patterns), avoid) {
		key += strings.Join(list, "/") + "//"
	}
	names, known := c.known[key]
	if !known {
		var ok bool
		if names, ok = ir.NameClasses(patterns, avoid); !ok {
			c.unclear = true
		}
		if c.known == nil {
			c.known = map[string][]string{}
		}
		c.known[key] = names
	}
	return names
}

// freeNames are two names in a cell that no rule is about, and false where rules by name are about all.
func (c *comparison) freeNames(p *place, taken []string) (names [2]string, ok bool) {
	patterns := p.patterns()
	if len(patterns) == 0 {
		first := fresh("file", taken)
		return [2]string{first, fresh(first+"2", taken)}, true
	}
	free := func(name string) bool { return !slices.Contains(taken, name) && !matched(patterns, name) }
	if first := fresh("file", taken); free(first) && free(first+"2") {
		return [2]string{first, first + "2"}, true
	}
	for i := range names {
		at := slices.IndexFunc(c.classes(patterns, taken), free)
		if at < 0 {
			return [2]string{names[0], names[0]}, i > 0
		}
		names[i] = c.classes(patterns, taken)[at]
		taken = append(slices.Clone(taken), names[i])
	}
	return names, true
}

// cutByName cuts a cell by the rules by name about names in it. Which rules decide at a name depends on those
// that decided in the directory above, and on the name's class.
func (c *comparison) cutByName(p *place, taken []string) {
	patterns := p.patterns()
	if len(patterns) == 0 {
		return
	}
	seen := map[nameState]bool{c.stateAt(p.inside): true}
	names := c.classes(patterns, taken)
	queue := []ir.Location{p.at}
	if p.ends[0] != p.at {
		queue = append(queue, p.ends[0]) // a name that has a cell of its own in the directory itself has none below
	}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		for _, name := range names {
			at := dir.Child(name)
			s := c.stateAt(at)
			if seen[s] {
				continue
			}
			seen[s] = true
			p.byName = append(p.byName, c.nameCell(p, at, s))
			queue = append(queue, at)
		}
		names = c.classes(patterns, nil)
	}
}

func (c *comparison) nameCell(p *place, at ir.Location, s nameState) *nameCell {
	out := &place{
		at: at, inside: at, ends: [2]ir.Location{at, at}, old: s.old, new: s.new, named: true, rules: p.rules,
		guarded: p.guarded,
	}
	if below, ok := c.freeNames(out, nil); ok {
		out.ends[1] = at.Child(below[0])
	}
	n := &nameCell{place: out, by: s.by, in: p.at}
	for _, rules := range p.rules {
		for _, e := range rules {
			if !ir.MatchNames(e.Rule.Names, at.Base()) {
				n.beside = append(n.beside, e.Rule.Names...)
			}
		}
	}
	n.byText = n.names(func(r *ir.FSRule) ir.Location { return r.At })
	return n
}

// names are the patterns of the rules that decide, below the place that each counts from.
func (n *nameCell) names(from func(*ir.FSRule) ir.Location) string {
	var out []string
	for _, r := range n.by {
		if r == nil || !r.ByName() {
			continue
		}
		other := func(pattern string) bool { return slices.Contains(n.beside, pattern) }
		told := ir.FSRule{At: from(r), Names: slices.DeleteFunc(slices.Clone(r.Names), other)}
		if len(told.Names) == 0 {
			told.Names = r.Names
		}
		if text := told.Subject(); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, " and ")
}

// more are the capabilities that only one side has.
func (p *place) more(wider bool) ir.CapSet {
	if wider {
		return p.new &^ p.old
	}
	return p.old &^ p.new
}

// widerNames lists the differences at names that do not differ like the cells around them. The places where the
// same two rules decide are one region.
func (c *comparison) widerNames(trees []*placeTree, wider bool) []Difference {
	tables := c.old.Tool.Commands != nil || c.new.Tool.Commands != nil
	of := ir.All
	if tables {
		of = ir.All.Without(ir.Execute)
	}
	var out []Difference
	type told struct {
		by   [2]*ir.FSRule
		more ir.CapSet
	}
	seen, named, sum := map[[2]*ir.FSRule]bool{}, map[told]bool{}, map[[2]*ir.FSRule]ir.CapSet{}
	for _, t := range trees {
		for _, p := range all(t) {
			for _, n := range p.byName {
				by, more := n.named(), n.more(wider)&of
				// There are many protected paths, and names in them are no other than elsewhere.
				known := named[told{by, more}] || n.guarded && sum[by].Contains(more)
				if more != 0 && more != p.more(wider)&of && !known {
					d := c.nameDifference(n, more, wider)
					d.Except = n.exceptPaths(t, more, wider)
					d.Where = n.names(func(r *ir.FSRule) ir.Location {
						if n.in.Under(r.At) {
							return n.in // a part of the place that the rule counts from
						}
						return r.At
					})
					named[told{by, more}] = true
					sum[by] |= more
					out = append(out, d)
				}
				executes := ir.Caps(ir.Execute)
				if !tables || n.more(wider)&executes == 0 || p.more(wider)&executes != 0 || seen[by] {
					continue
				}
				seen[by] = true
				d := c.nameDifference(n, executes, wider)
				var relevant bool
				if d.Example, relevant = c.started(region[*place, ir.CapSet]{item: n.place}, wider); relevant {
					out = append(out, d)
				}
			}
		}
	}
	return gather(out)
}

// exceptPaths are the paths with rules of their own among the names that do not differ like the others.
func (n *nameCell) exceptPaths(t *placeTree, more ir.CapSet, wider bool) []string {
	var out []string
	for _, p := range all(t) {
		matched := slices.ContainsFunc(n.by[:], func(r *ir.FSRule) bool {
			if r == nil || !r.ByName() {
				return false
			}
			length, ok := r.Matches(p.at)
			return ok && length == len(p.at.Path)
		})
		if matched && p.at != n.in && p.at.Under(n.in) && !p.guarded && p.more(wider)&more != more {
			out = append(out, p.at.Short())
		}
	}
	return out
}

// named are the rules by name that decide, nil where a rule on a path does.
func (n *nameCell) named() (out [2]*ir.FSRule) {
	for i, r := range n.by {
		if r != nil && r.ByName() {
			out[i] = r
		}
	}
	return out
}

func (c *comparison) nameDifference(n *nameCell, more ir.CapSet, wider bool) Difference {
	d := c.difference(region[*place, ir.CapSet]{item: n.place, label: more}, wider)
	d.Where, d.Protected = n.text(), nil
	return d
}

// exceptNames are the names in a region that do not differ like the rest.
func exceptNames(r region[*place, ir.CapSet], wider bool) []string {
	var out []string
	for _, p := range r.parts {
		for _, n := range p.byName {
			if n.more(wider)&r.label != r.label && !slices.Contains(out, n.text()) {
				out = append(out, n.text())
			}
		}
	}
	return out
}

// sameNames reports whether the rules by name of both policies are alike in a cell.
func sameNames(rules [2][]ir.Entry) bool { return sameEntries(rules[0], rules[1]) }

func sameEntries(a, b []ir.Entry) bool {
	return slices.EqualFunc(a, b, func(x, y ir.Entry) bool { return sameRule(*x.Rule, *y.Rule) })
}

// tooManyNames is the difference of policies whose rules by name tell too many names apart to be compared. It counts as
// a single cell.
func tooManyNames() Difference {
	return Difference{
		Resource: ir.FS, Wider: true, What: "use names that no comparison can tell apart",
		Where: "where many rules by name overlap",
	}
}
