package writer

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Named is a rule by name in a program's settings. See decision D267.
type Named struct {
	ir.Entry
	// Base is the place that the rule counts from.
	Base *Place
	// Has is the access that the settings leave the names, as far as Patterns are about them; without patterns they are
	// as the place around them.
	Has      Access
	Patterns []string
	// wider is true where the patterns are about further names.
	wider  bool
	places []*Place // below which the rule is about names
}

// Globs are the names of a rule as the patterns of most programs: "*" for any characters and "?" for a single
// character. A class and a character that means something else there are "?", so that the patterns are about
// further names.
func Globs(names []string, odd string) (globs []string, wider bool) {
	spelling := ir.NameSpelling{
		Run: "*", One: "?",
		Char: func(r rune) string {
			if strings.ContainsRune(odd, r) {
				wider = true
				return "?"
			}
			return string(r)
		},
		Class: func([]rune, bool) string {
			wider = true
			return "?"
		},
	}
	for _, name := range names {
		if g := spelling.Spell(name); !slices.Contains(globs, g) {
			globs = append(globs, g)
		}
	}
	return globs, wider
}

// GlobsBelow spells a rule by name as patterns below a place: "./src/**/*.pem".
func GlobsBelow(odd string) func(*Named) ([]string, bool) {
	return func(n *Named) ([]string, bool) {
		if strings.ContainsAny(n.Base.Path, odd) {
			return nil, false
		}
		globs, wider := Globs(n.Rule.Names, odd)
		for i, g := range globs {
			globs[i] = strings.TrimSuffix(n.Base.Path, "/") + "/**/" + g
		}
		return globs, wider
	}
}

// name finds the rules by name, after all places are settled.
func (p *Plan) name() {
	known := map[ir.RuleID]*Named{}
	for _, at := range p.Places {
		for _, e := range at.ByName {
			n := known[e.ID]
			if n == nil {
				n = &Named{Entry: e, Has: Wanted(e.Rule.Caps)}
				known[e.ID] = n
				p.Named = append(p.Named, n)
			}
			if n.places = append(n.places, at); at.At == e.Rule.At && !at.Link && !at.Through {
				n.Base = at
			}
		}
	}
	for _, n := range p.Named {
		if p.dialect.Names == nil || n.Base == nil || Kernel(n.Base.At) || !n.open(max(n.Has, p.dialect.Least)+1) {
			continue
		}
		if n.Has = max(n.Has, p.dialect.Least); p.dialect.Closes {
			n.Has = None
		}
		p.spellNames(n)
	}
}

// spellNames has the patterns count from the rule's place, or from the next place around it that settings can have.
func (p *Plan) spellNames(n *Named) {
	for further := false; n.Base != nil; n.Base, further = n.Base.Outer, true {
		if n.Base.Path == "" {
			continue
		}
		if n.Patterns, n.wider = p.dialect.Names(n); len(n.Patterns) > 0 {
			n.wider = n.wider || further
			return
		}
	}
}

// open reports whether the settings give an access around some of the names.
func (n *Named) open(a Access) bool {
	return slices.ContainsFunc(n.places, func(p *Place) bool { return p.Has >= a })
}

// Holds reports whether the settings keep an access from the names.
func (n *Named) Holds(a Access) bool { return len(n.Patterns) > 0 && n.Has < a }

// takes reports whether the patterns take an access from a place that is not under the rule.
func (p *Plan) takes(n *Named, at *Place, a Access) bool {
	if !n.Holds(a) {
		return false
	}
	_, matches := n.Rule.Matches(at.At)
	under := slices.Contains(n.places, at)
	root := n.Base.At.Root
	anywhere := p.Target.Form != backends.Resolved && root.Kind != ir.Workspace && at.At.Root != root
	return matches || n.wider && under || !under && (at.In(n.Base) || anywhere)
}

// closed reports whether some patterns take an access from a place.
func (p *Plan) closed(at *Place, a Access) bool {
	return slices.ContainsFunc(p.Named, func(n *Named) bool { return p.takes(n, at, a) })
}

// needed is the access that an aspect takes, None for an aspect of no access.
func needed(a ir.Aspect) Access {
	switch a {
	case ir.AspectRead, ir.AspectExecute:
		return Read
	case ir.AspectCreate, ir.AspectUpdate, ir.AspectMetadata, ir.AspectDelete, ir.AspectMove:
		return Write
	default:
		return None
	}
}

// taken is said about a place that patterns of rules by name close.
func (h *Holder) taken(at *Place, a ir.Aspect) ir.Held {
	need := needed(a)
	closed := grants(at.Caps, a) && need > None && h.Plan.closed(at, need)
	return backends.When(closed, Less(WhyNamed))
}

// named says how an aspect of a rule by name is held.
func (h *Holder) named(n *Named, a ir.Aspect) ir.Held {
	lacking, lacks := h.Except[a]
	granted, need := grants(n.Rule.Caps, a), needed(a)
	switch {
	case granted && lacks:
		return lacking
	case lacks:
		return h.loose()
	case a == ir.AspectSocket && granted:
		return h.SocketLess
	case a == ir.AspectSocket:
		return backends.Join(h.Socket, h.loose())
	case a == ir.AspectOthers:
		return backends.When(n.open(Read), Assumed(WhyFollows))
	case granted:
		return h.givenName(n, need)
	case n.Holds(need):
		return backends.Join(h.Closed, h.Patterns, h.loose())
	case a == ir.AspectMove:
		return backends.Join(backends.When(n.open(need), backends.Weaker(ir.GapFSNames, WhyByName, WhyMoves)),
			h.loose())
	case n.open(need):
		return backends.Join(backends.Weaker(ir.GapFSNames, h.openName(n, need)), h.loose())
	default:
		return h.loose()
	}
}

// openName is why a name is open that a rule closes.
func (h *Holder) openName(n *Named, need Access) ir.CauseID {
	switch {
	case len(n.Patterns) == 0:
		return WhyByName
	case n.Rule.Caps.Has(ir.Read):
		return WhyExecute
	case need == Read && h.Open != "":
		return h.Open
	default:
		return WhyByName
	}
}

// givenName says how an access is held that a rule by name gives: as the place around has it.
func (h *Holder) givenName(n *Named, need Access) ir.Held {
	var all []ir.Held
	short := slices.ContainsFunc(h.Plan.Named, func(o *Named) bool { return o.Holds(need) })
	for _, p := range n.places {
		guarded := need == Write && p.Governing.Rule != nil && p.Governing.Rule.Guards()
		short = short || p.Has < need && !guarded || h.Plan.closed(p, need)
		if need == Write && p.Has == Write {
			all = append(all, h.Written(p))
		}
	}
	return backends.Join(append(all, backends.When(short, Less(WhyNamed)), h.blocked())...)
}
