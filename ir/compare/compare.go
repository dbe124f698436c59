// Package compare computes the exact difference between the permissions of two policies: over
// all paths, hosts, names and argument lists, not over the text of the rules. It cuts each
// universe into finitely many cells inside which neither policy distinguishes targets, asks ir.View.Decide of both
// about a target of each cell, and joins the cells that differ alike to regions. It decides nothing itself.
//
// The policies are compared, and where a platform enforces less than they say, the ledgers as
// well: weaker enforcement permits more.
package compare

import (
	"cmp"
	"slices"

	"github.com/accessc/accessc/ir"
)

// Verdict sums up how a new policy relates to an old policy.
type Verdict uint8

// The verdicts. The zero value is none.
const (
	// Equivalent: both permit the same.
	Equivalent Verdict = iota + 1
	// Narrowed: the new policy permits less and nothing more.
	Narrowed
	// Widened: the new policy permits more and nothing less.
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

// Side is the answer of one of the two policies to an example: the rule that decides, nil when
// none matches, and the reason.
type Side struct {
	Rule   ir.Rule   // that decides
	Reason ir.Reason // of the verdict
	// At is where the rule of a ruleset stands that decides; it is no rule of a tool.
	At ir.Origin
}

// origin returns the origin of the rule, its zero value where none decides.
func (s Side) origin() ir.Origin {
	if s.Rule == nil {
		return ir.Origin{}
	}
	return s.Rule.Source()
}

// Kind is the subject of a difference.
type Kind uint8

// The kinds. The zero value is a grant of the resource.
const (
	// Grant: the permissions of rules.
	Grant Kind = iota
	// Presence: the tool exists on one side only.
	Presence
	// Confinement: which program runs the tool, so whether rules apply to it.
	Confinement
	// Bound: a limit.
	Bound
	// Invocation: how often, and after which other tools, the tool may be invoked.
	Invocation
	// Unheld: a gap that is accepted.
	Unheld
	// Sharing: whether other tools have the same home.
	Sharing
	// Enforcement: how a platform enforces a requirement.
	Enforcement
	// Inspection: how much of granted connections is looked at.
	Inspection
	// Credentials: the credential that is put into granted requests.
	Credentials
	// Ruling: the verdict of a ruleset on operations of an agent.
	Ruling
	// Live: the capabilities that the user can grant while the tool runs.
	Live
	// Nesting: whether a directory is a workspace in another workspace, and whether tools start there.
	Nesting
	// Calling: which tools of an MCP server a client may call.
	Calling
)

// Protected is the place of a difference of several protected paths.
const Protected = "protected paths"

// Difference is a region in which the policies differ alike.
type Difference struct {
	Kind     Kind        // of the change
	Resource ir.Resource // the type of the rules
	// Wider is true where the new policy permits something that the old policy did not.
	Wider bool
	// What lists the capabilities, or is a verb, such as "connect".
	What string
	// Where is the region; Except lists the parts of it that do not differ like the rest.
	Where  string
	Except []string
	// Protected are the protected paths that Where stands for, if it is a protected path or is the word for them all;
	// otherwise the protected paths below Where that do not differ like the rest.
	Protected []string
	// Example is a question of the region with different answers, in the spelling that
	// accessc can takes and a shell reads; empty where no question shows the difference, as for
	// a move that only a known file may make.
	Example  string
	Old, New Side // the answers to Example
	// Limits are the old and the new value of a limit, 0 for none.
	Limits [2]uint64
	// Regions are the parts of Where, if it has several.
	Regions []string
	// Beside is true where another difference suffices for a reader: this difference is about unusual forms of the same
	// operations.
	Beside bool
	// Platforms are the platforms on which it matters; nil means all.
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
	Tool   *ir.Tool  // its policy
	Ledger ir.Ledger // of all platforms
}

// Nothing returns the policy that permits nothing but t's access to the system, its base and
// its home, with the same bindings as t. A tool that one side lacks is compared with it.
func Nothing(t *ir.Tool) Policy {
	none := &ir.Tool{Name: t.Name, Source: ir.Source{Kind: ir.SourceLocal}, Base: t.Base, Home: t.Home,
		Limits: t.Limits, Constraints: t.Constraints, Command: t.Command}
	if t.Commands != nil {
		none.Commands = &ir.CommandSet{}
	}
	return Policy{Tool: none}
}

// Policies compares two policies of the same tool.
func Policies(old, new Policy) []Difference {
	if ds, decided := sources(old.Tool, new.Tool); decided {
		return append(ds, constraints(old.Tool.Constraints, new.Tool.Constraints)...)
	}
	was, is := old.Tool, new.Tool
	old.Tool, new.Tool = shared(was), shared(is)
	var out []Difference
	c := newComparison(old.Tool, new.Tool, ir.Linux)
	if !sameFiles(old.Tool, new.Tool) {
		own := c.trees(func(r ir.Root) bool { return r.Kind != ir.System })
		out = c.files(own)
		out = append(out, aside(c.moves(own), out)...)
		if c.unclear {
			out = append(out, tooManyNames())
		}
	}
	if systemDiffers(old.Tool, new.Tool) {
		out = append(out, join(func(p ir.Platform) []Difference {
			c := newComparison(old.Tool, new.Tool, p)
			return c.files(c.trees(func(r ir.Root) bool { return r.Kind == ir.System }))
		})...)
	}
	if !sameEnvironment(old.Tool, new.Tool) {
		out = append(out, join(func(p ir.Platform) []Difference {
			return newComparison(old.Tool, new.Tool, p).environment()
		})...)
	}
	if !sameNetwork(old.Tool, new.Tool) {
		out = append(out, c.network()...)
	}
	if !sameCommands(old.Tool, new.Tool) {
		out = append(out, c.commands()...)
	}
	out = append(out, live(old.Tool, new.Tool)...)
	out = append(out, bounds(old.Tool, new.Tool)...)
	if old.Ledger != nil && new.Ledger != nil {
		granted := slices.Clone(out)
		out = append(out, join(func(p ir.Platform) []Difference {
			return newComparison(old.Tool, new.Tool, p).enforcement(old.Ledger, new.Ledger, granted)
		})...)
	}
	for i := range out {
		out[i].Old.Rule, out[i].New.Rule = original(was, old.Tool, out[i].Old.Rule),
			original(is, new.Tool, out[i].New.Rule)
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
// See decision D34.
type comparison struct {
	platform ir.Platform
	old, new *ir.View
	// known are classes of names that were asked for; unclear is set where there are too many to compare.
	known   map[string][]string
	unclear bool
}

func newComparison(old, new *ir.Tool, p ir.Platform) *comparison {
	return &comparison{platform: p, old: ir.NewView(old, p, ir.Facts{}), new: ir.NewView(new, p, ir.Facts{})}
}

// ask asks both. differs is false where they agree.
func (c *comparison) ask(op ir.Operation) (old, new ir.Verdict, differs bool) {
	old, new = c.old.Decide(op), c.new.Decide(op)
	return old, new, old.Allowed() != new.Allowed()
}

func side(v ir.Verdict) Side { return Side{Rule: v.Rule, Reason: v.Reason} }

// join runs a comparison for every platform and joins the differences that several have in
// common.
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
	return d.Kind == o.Kind && d.Resource == o.Resource && d.Wider == o.Wider && d.What == o.What &&
		d.Where == o.Where &&
		d.Example == o.Example && slices.Equal(d.Except, o.Except) && slices.Equal(d.Protected, o.Protected)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
