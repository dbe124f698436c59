package explain

import (
	"strings"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// idle lists the rules that decide nothing of their own, and why.
func (p *Policy) idle() []line {
	found, skipped := compare.Idles(p.Tool)
	var out []line
	for _, f := range found {
		if f.Clears() {
			continue
		}
		l := line{origin: f.Rule.Source().String(), note: idleWhy(f)}
		l.at, l.body = idleBody(f)
		out = append(out, l)
	}
	for _, r := range skipped {
		out = append(out, line{body: "not searched: too many " + r.String() + " rules"})
	}
	if len(out) > 0 {
		out[0].head = "idle"
	}
	return out
}

// removed lists the rules that a later layer took away.
func (p *Policy) removed() []line {
	var out []line
	for _, r := range p.Tool.Removed {
		body := r.Resource.String() + " " + r.Subject
		out = append(out, line{body: body, note: "by " + r.By.String(), origin: r.Was.String()})
	}
	if len(out) > 0 {
		out[0].head = "removed"
	}
	return out
}

// idleBody returns the content of the rule, as a place or in words.
func idleBody(f compare.Idle) (*placed, string) {
	switch r := f.Rule.(type) {
	case *ir.FSRule:
		if f.Why == compare.Linked {
			return at(r.Written, r.Caps), ""
		}
		return at(r.Subject(), r.Caps), ""
	case *ir.NetRule:
		return nil, verb(r.Allow) + " " + r.Subject()
	case *ir.EnvRule:
		return nil, envText(r)
	case *ir.CommandRule:
		if f.Pattern >= 0 {
			return nil, r.Program + " " + patternText(r.Args[f.Pattern])
		}
		return nil, r.Program + argsText(r)
	default:
		return nil, string(f.ID())
	}
}

// idleWhy says in a few words why a rule decides nothing of its own.
func idleWhy(f compare.Idle) string {
	switch f.Why {
	case compare.Shadowed:
		return "never wins: more specific is " + places(f.By)
	case compare.Ordered:
		if f.Partly {
			return "order alone decides what it shares with " + places(f.By)
		}
		return "never wins, by order alone: " + places(f.By) + " is later"
	case compare.Linked:
		return "never wins: a symlink to " + f.Rule.Subject() + ", where " + places(f.By) + " decides"
	case compare.Redundant:
		return "redundant: " + without(f)
	default:
		return f.Why.String()
	}
}

// without explains why the policy permits the same without a redundant rule.
func without(f compare.Idle) string {
	if f.Pattern >= 0 {
		return "other arguments of the list cover it"
	}
	if rules := places(f.By); rules != "" {
		return rules + " says the same"
	}
	for _, b := range f.By {
		if b.Reason == ir.ReasonOwn {
			return "accessc sets it to something of the tool's own"
		}
	}
	return "what no rule grants is denied"
}

// maxPlaces bounds the places of rules that a line names. JSON has them all.
const maxPlaces = 3

// places lists rules with their places.
func places(by []compare.Side) string {
	var out []string
	for _, b := range by {
		if b.Rule == nil {
			continue
		}
		if len(out) == maxPlaces {
			out = append(out, "…")
			break
		}
		out = append(out, b.Rule.Subject()+" ("+b.Rule.Source().String()+")")
	}
	return strings.Join(out, ", ")
}

// IdleDoc is a rule that decides nothing of its own, in JSON.
type IdleDoc struct {
	RuleDoc
	// Why is shadowed, order, symlink or redundant.
	Why string `json:"why"`
	// Partly is true when the rule decides something else.
	Partly bool   `json:"partly,omitempty"`
	Detail string `json:"detail"`
	// By are the rules that decide instead.
	By []RuleDoc `json:"by"`
}

// idleDocs returns the machine-readable form, and the resources that were not searched.
func (p *Policy) idleDocs() (docs []IdleDoc, skipped []string) {
	found, not := compare.Idles(p.Tool)
	docs = []IdleDoc{}
	for _, f := range found {
		if f.Clears() {
			continue
		}
		d := IdleDoc{RuleDoc: ruleDoc(f.ID(), f.Rule), Why: f.Why.String(), Partly: f.Partly, Detail: idleWhy(f),
			By: []RuleDoc{}}
		for _, b := range f.By {
			if b.Rule != nil {
				d.By = append(d.By, ruleDoc(compare.RuleID(p.Tool, b.Rule), b.Rule))
			}
		}
		docs = append(docs, d)
	}
	for _, r := range not {
		skipped = append(skipped, r.String())
	}
	return docs, skipped
}
