// Package compare says how what two policies permit differs, exactly: over all
// paths, hosts, names and argument lists, not over the text of the rules. It cuts
// each universe into finitely many cells inside which neither policy tells anything
// apart, asks ir.View.Decide of both about one target of each cell, and joins the
// cells that differ alike to regions. It decides nothing itself.
//
// What is compared is what the policies say. Where a platform holds less, the ledgers
// are compared as well, since less held is more permitted.
package compare

import (
	"cmp"
	"slices"

	"github.com/accessc/accessc/ir"
)

// Verdict sums up how a new policy relates to an old one.
type Verdict uint8

// The verdicts. The zero value is none.
const (
	// Equivalent: both permit the same.
	Equivalent Verdict = iota + 1
	// Narrowed: the new one permits less and nothing more.
	Narrowed
	// Widened: the new one permits more and nothing less.
	Widened
	// Changed: each permits something that the other does not.
	Changed
)

// String returns the word that formats use.
func (v Verdict) String() string {
	switch v {
	case Equivalent:
		return "equivalent"
	case Narrowed:
		return "narrowed"
	case Widened:
		return "widened"
	case Changed:
		return "changed"
	default:
		return "none"
	}
}

// Side is what one of the two policies says of an example: the rule that decides, nil
// when none matches, and why.
type Side struct {
	Rule   ir.Rule
	Reason ir.Reason
}

// origin is where the rule was written, its zero value where none decides.
func (s Side) origin() ir.Origin {
	if s.Rule == nil {
		return ir.Origin{}
	}
	return s.Rule.Source()
}

// Kind says what a difference is about.
type Kind uint8

// The kinds. The zero value is a grant of the resource.
const (
	// Grant: what the rules permit.
	Grant Kind = iota
	// Presence: that there is such a tool at all.
	Presence
	// Confinement: who runs the tool, so whether rules hold for it.
	Confinement
	// Bound: a limit.
	Bound
	// Invocation: how often and after what the tool may be invoked.
	Invocation
	// Unheld: a gap that is accepted.
	Unheld
	// Enforcement: how a platform holds a cell.
	Enforcement
)

// Protected is where a difference of several protected paths is.
const Protected = "protected paths"

// Difference is one region in which the policies differ alike.
type Difference struct {
	Kind     Kind
	Resource ir.Resource
	// Wider is true where the new policy permits what the old one did not.
	Wider bool
	// What are the capabilities, or a verb, such as "connect".
	What string
	// Where is the region; Except are the parts of it that do not differ so.
	Where  string
	Except []string
	// Protected are the protected paths that Where stands for, if it is one or is the word for
	// them all; else those that do not differ so.
	Protected []string
	// Example is one question of the region that is answered differently, as accessc can
	// takes it and a shell reads it; empty where there is none to ask, as for a move that
	// only what is known to be a file may make.
	Example  string
	Old, New Side
	// Limits are the old and the new value of a limit, 0 for none.
	Limits [2]uint64
	// Platforms are those on which it matters; nil means all.
	Platforms []ir.Platform
}

// Sum is the verdict over differences.
func Sum(ds []Difference) Verdict {
	out := Equivalent
	for _, d := range ds {
		out = out.and(d.Wider)
	}
	return out
}

func (v Verdict) and(wider bool) Verdict {
	one := Narrowed
	if wider {
		one = Widened
	}
	if v == Equivalent || v == one {
		return one
	}
	return Changed
}

// Policy is a tool with the ledger of its artifacts, nil where none was made.
type Policy struct {
	Tool   *ir.Tool
	Ledger ir.Ledger
}

// Nothing is the policy that permits nothing beside what t has of the system, its base
// and its home, and is bound as t is. A tool that one side lacks is compared with it.
func Nothing(t *ir.Tool) Policy {
	none := &ir.Tool{Name: t.Name, Source: ir.Source{Kind: ir.SourceLocal}, Base: t.Base, Home: t.Home, Limits: t.Limits, Constraints: t.Constraints, Command: t.Command}
	if t.Commands != nil {
		none.Commands = &ir.CommandSet{}
	}
	return Policy{Tool: none}
}

// Policies compares two policies of one tool.
func Policies(old, new Policy) []Difference {
	if ds, decided := sources(old.Tool, new.Tool); decided {
		return append(ds, constraints(old.Tool.Constraints, new.Tool.Constraints)...)
	}
	var out []Difference
	c := newComparison(old.Tool, new.Tool, ir.Linux)
	if !sameFiles(old.Tool, new.Tool) {
		own := c.trees(func(r ir.Root) bool { return r.Kind != ir.System })
		out = append(c.files(own), c.moves(own)...)
	}
	if systemDiffers(old.Tool, new.Tool) {
		out = append(out, join(func(p ir.Platform) []Difference {
			c := newComparison(old.Tool, new.Tool, p)
			return c.files(c.trees(func(r ir.Root) bool { return r.Kind == ir.System }))
		})...)
	}
	if !sameEnvironment(old.Tool, new.Tool) {
		out = append(out, join(func(p ir.Platform) []Difference { return newComparison(old.Tool, new.Tool, p).environment() })...)
	}
	if !sameNetwork(old.Tool, new.Tool) {
		out = append(out, c.network()...)
	}
	if !sameCommands(old.Tool, new.Tool) {
		out = append(out, c.commands()...)
	}
	out = append(out, bounds(old.Tool, new.Tool)...)
	if old.Ledger != nil && new.Ledger != nil {
		granted := slices.Clone(out)
		out = append(out, join(func(p ir.Platform) []Difference {
			return newComparison(old.Tool, new.Tool, p).enforcement(old.Ledger, new.Ledger, granted)
		})...)
	}
	slices.SortStableFunc(out, func(a, b Difference) int {
		return cmp.Or(btoi(b.Wider)-btoi(a.Wider), cmp.Compare(a.Resource, b.Resource))
	})
	return out
}

// systemDiffers reports whether the two can differ outside of all roots of the tool's
// own. Only there does the platform matter: each has a base of its own.
func systemDiffers(old, new *ir.Tool) bool {
	outside := func(r ir.FSRule) bool { return r.At.Root.Kind == ir.System }
	return old.Base != new.Base || slices.ContainsFunc(old.FS, outside) || slices.ContainsFunc(new.FS, outside)
}

// sources settles the cases in which rules do not matter: only a local tool is
// confined.
func sources(old, new *ir.Tool) ([]Difference, bool) {
	was, is := old.Source.Kind == ir.SourceLocal, new.Source.Kind == ir.SourceLocal
	d := Difference{Kind: Confinement, What: "run outside of accessc", Where: new.Source.String(), Wider: true}
	switch {
	case was && is:
		return nil, false
	case was:
		return []Difference{d}, true
	case is:
		d.Wider, d.Where = false, old.Source.String()
		return []Difference{d}, true
	default:
		return nil, true
	}
}

// comparison is two policies on one platform.
type comparison struct {
	platform ir.Platform
	old, new *ir.View
}

func newComparison(old, new *ir.Tool, p ir.Platform) *comparison {
	return &comparison{platform: p, old: ir.NewView(old, p, ir.Facts{}), new: ir.NewView(new, p, ir.Facts{})}
}

// ask asks both. differs is false where they agree.
func (c *comparison) ask(op ir.Operation) (old, new ir.Verdict, differs bool) {
	old, new = c.old.Decide(op), c.new.Decide(op)
	return old, new, old.Allowed() != new.Allowed()
}

func side(v ir.Verdict) Side { return Side{v.Rule, v.Reason} }

// join runs a comparison for every platform and joins what is equal on several.
func join(run func(ir.Platform) []Difference) []Difference {
	var out []Difference
	for _, p := range ir.Platforms {
		for _, d := range run(p) {
			i := slices.IndexFunc(out, func(o Difference) bool { return o.same(d) })
			if i < 0 {
				i = len(out)
				out = append(out, d)
			}
			out[i].Platforms = append(out[i].Platforms, p)
		}
	}
	for i := range out {
		if len(out[i].Platforms) == len(ir.Platforms) {
			out[i].Platforms = nil
		}
	}
	return out
}

func (d Difference) same(o Difference) bool {
	return d.Kind == o.Kind && d.Resource == o.Resource && d.Wider == o.Wider && d.What == o.What && d.Where == o.Where &&
		d.Example == o.Example && slices.Equal(d.Except, o.Except) && slices.Equal(d.Protected, o.Protected)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
