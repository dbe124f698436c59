package allow

import (
	"errors"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ir"
)

// Proposal is an addition that would permit some refused operations, or the reason why there is none.
type Proposal struct {
	// Denials are the indices of the operations.
	Denials []int
	// Permitted is true where the present policy permits all of them.
	Permitted bool
	// Command is the command that adds the rules, Plan their text; Plan is nil for a mount.
	Command string
	Plan    *Plan
	// WhyNot is the reason why no addition is proposed.
	WhyNot string
}

// Propose finds additions for the refusals of a run: one for each, and one for a directory for
// which several speak.
// See decision D177.
func (p *Planner) Propose(entries []denial.Entry) []Proposal {
	var out []Proposal
	for _, g := range (candidates{p.Bounds, p.wide}).refused(entries) {
		out = append(out, p.propose(g))
	}
	return out
}

func (p *Planner) propose(g group) Proposal {
	out := Proposal{Denials: g.denials, WhyNot: g.broken}
	if g.broken != "" {
		return out
	}
	if out.Permitted = !slices.ContainsFunc(g.asks, func(a Ask) bool { return !a.alone().Allowed(p.View) }); out.Permitted {
		return out
	}
	if out.WhyNot = p.leadsOut(g); out.WhyNot != "" {
		return out
	}
	if g.asks[0].isOutside() {
		place, why := p.outer(g)
		if why != "" || !p.names(place) {
			out.Command, out.WhyNot = p.mounts.mount(p.Bounds, g)
			return out
		}
		for i := range g.asks {
			g.asks[i].external = place
		}
	}
	plan, err := p.Plan(g.asks...)
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		out.WhyNot = refused.Why
	case err != nil:
		out.WhyNot = "no single rule permits it: " + err.Error()
	default:
		out.Plan = plan
		out.Command = p.command(g)
	}
	return out
}

// command is the command line that plans the same.
func (p *Planner) command(g group) string {
	words := []string{"accessc", "allow", p.Tool.Name}
	if p.kind != ir.LayerLocal {
		words = []string{"accessc", "allow", "--layer", p.kind.String(), p.Tool.Name}
	}
	add := func(op ...string) {
		if word := shellword.Quote(strings.Join(op, " ")); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	for _, a := range g.asks {
		about := ir.Describe(a.Operation)
		switch op := a.Operation.(type) {
		case ir.Access:
			at := op.On.At
			if a.At != nil {
				at = *a.At
			}
			for _, c := range a.Needs.List() {
				add(c.String(), a.word(at))
			}
		case ir.Run:
			line := []string{"run", shellword.Quote(op.Program)}
			for _, arg := range op.Args {
				line = append(line, shellword.Quote(arg))
			}
			add(line...)
		case ir.Connect, ir.Listen, ir.Forward:
			add(about.Verb, about.Subject)
		default:
			line := []string{about.Verb}
			for _, place := range about.Places {
				line = append(line, a.word(place.At))
			}
			add(line...)
		}
	}
	return strings.Join(words, " ")
}

// word is a place as a word of an operation, in which "~" is not quoted.
func (a Ask) word(at ir.Location) string {
	if a.external == nil {
		return shellword.Quote(at.Short())
	}
	if rest, ok := strings.CutPrefix(a.external.name, "~/"); ok {
		return "~/" + shellword.Quote(rest)
	}
	return shellword.Quote(a.external.name)
}

// ApproveCommand is the command that approves external rules.
func ApproveCommand(rules []string) string {
	words := []string{"accessc", "approve"}
	for _, r := range rules {
		words = append(words, shellword.Quote(r))
	}
	return strings.Join(words, " ")
}
