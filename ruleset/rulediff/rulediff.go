// Package rulediff finds the difference between the verdicts of two rulesets. It cuts the operations
// that their rules tell apart into classes: the operations that the same rule of the old ruleset and
// the same rule of the new ruleset decide, with the same verdicts. It makes operations from the words,
// options, hosts and directories that the rules name, asks ruleset.Set.Decide of both about each,
// and describes each class in which they differ by regions and an example. It decides nothing
// itself.
package rulediff

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulejson"
	"github.com/accessc/accessc/ruleset/shell"
)

// Side is the verdict of a ruleset on the operations of a class.
type Side struct {
	Outcome ruleset.Outcome // the verdict
	Rule    *ruleset.Rule   // that decides, or that may; nil for none
	Why     string          // a phrase
}

// Region is a part of a class in words, and its parts that do not belong to the class.
type Region struct {
	Where  string   // such as "git push …"
	Except []string // such as "git push --dry-run …"
}

// Class is a set of operations that neither ruleset tells apart, with different verdicts.
type Class struct {
	Old, New Side // the verdicts of both on each of the operations
	// Regions make up the class. Unusual forms of an operation, such as words that the shell
	// expands, are left out if there are usual forms.
	Regions []Region
	// Example is one of the operations, in a workspace at Root.
	Example ruleset.Operation
	// Beside is true for a class of unusual forms of the operations of another class, with the same
	// new verdict: words that the shell expands, options that are not known.
	Beside bool
	// aside is true until an operation of a usual form is found; unusual are the regions of the
	// others.
	aside   bool
	unusual []Region
}

// Wider reports whether the new ruleset stands in the way of the operations less than the old ruleset.
func (c *Class) Wider() bool { return rank(c.New.Outcome) > rank(c.Old.Outcome) }

func rank(o ruleset.Outcome) int {
	return slices.Index([]ruleset.Outcome{ruleset.Deny, ruleset.Ask, ruleset.Unknown, ruleset.Allow}, o)
}

// Comparison is the difference of two rulesets.
type Comparison struct {
	Classes []*Class // those in which they differ
	// Sampled are the parts of which examples were compared, and not all operations. Open is true
	// where the new ruleset may be wider there in ways that no example shows.
	Sampled []string
	Open    bool
}

// Root is the workspace of the operations that are compared.
const Root = "/workspace"

// Host is the machine on which operations are compared: nothing is a symlink, and every file may be
// opened, so that only rules decide.
func Host() ruleset.Host {
	return ruleset.Host{
		Resolve: func(p string) (string, bool) { return path.Clean(p), true },
		Open:    func(shell.Access, string) (ruleset.Outcome, string) { return ruleset.Allow, "" },
	}
}

// Compare compares two rulesets; nil stands for a ruleset without rules.
// See decision D161.
func Compare(old, new *ruleset.Set) Comparison {
	c := &comparison{old: placed(old), new: placed(new), classes: map[key]*Class{}}
	switch {
	case old == nil:
		c.old.Shell = c.new.Shell
	case new == nil:
		c.new.Shell = c.old.Shell
	}
	c.dialects()
	c.programs()
	c.otherOperations()
	c.written()
	c.settle()
	return c.out
}

// placed returns the ruleset for a workspace at Root, with rules of the form in which all are
// compared.
func placed(s *ruleset.Set) *ruleset.Set {
	if s == nil {
		return &ruleset.Set{Root: Root}
	}
	out, err := rulejson.Doc(s).Set(Root)
	if err != nil {
		// A ruleset that Go code put together may have matchers without content.
		return s
	}
	return out
}

// comparison is a run of Compare.
type comparison struct {
	old, new *ruleset.Set
	// widerShell is true where the new shell reads more lines than the old shell.
	widerShell bool
	asked      int // how often both were asked
	classes    map[key]*Class
	out        Comparison
}

// key is the same for the operations of one class, and for no others.
type key struct {
	was, is          ruleset.Outcome
	oldRule, newRule *ruleset.Rule
}

// ask judges an operation by both, and returns the class of the part for which the program is
// started; nil if they agree. A line is aside if it is of an unusual form.
func (c *comparison) ask(op ruleset.Operation, program string, aside bool) *Class {
	return c.askOf(c.old, c.new, op, program, aside)
}

// askOf asks two sets of those rules that may be about an operation.
func (c *comparison) askOf(old, new *ruleset.Set, op ruleset.Operation, program string, aside bool) *Class {
	c.asked++
	a, b := old.Decide(op, Host()), new.Decide(op, Host())
	if a.Outcome == b.Outcome {
		return nil
	}
	for _, d := range differing(&a, &b, part{}) {
		if !strings.Contains(d.text, program) {
			continue
		}
		k := key{d.Old.Outcome, d.New.Outcome, d.Old.Rule, d.New.Rule}
		found := c.classes[k]
		if found == nil {
			found = &d.Class
			c.classes[k] = found
			c.out.Classes = append(c.out.Classes, found)
		}
		if found.Example.Dir == "" || found.aside && !aside {
			found.Example, found.aside = op, aside
		}
		return found
	}
	return nil
}

// part is a part of a command line about which two rulesets differ.
type part struct {
	Class
	// text is the text of the part, behind the text of the programs around it.
	text string
}

// differing lists the parts to which the difference of two judgements of an operation is owed, outer parts first. The
// rules of the part around allow the words that they spell out.
func differing(a, b *ruleset.Decision, around part) []part {
	var out []part
	p := around
	p.Old.Outcome, p.Old.Why, p.New.Outcome, p.New.Why = a.Own, a.Why, b.Own, b.Why
	if a.Rule != nil || a.Own != ruleset.Allow {
		p.Old.Rule = a.Rule
	}
	if b.Rule != nil || b.Own != ruleset.Allow {
		p.New.Rule = b.Rule
	}
	if a.Why != "" {
		p.text = strings.TrimPrefix(around.text+" "+a.Text, " ")
	}
	if a.Own != b.Own {
		out = append(out, p)
	}
	for i := range min(len(a.Parts), len(b.Parts)) {
		if a.Parts[i].Outcome != b.Parts[i].Outcome {
			out = append(out, differing(&a.Parts[i], &b.Parts[i], p)...)
		}
	}
	return out
}

// written compares the examples that rules come with.
func (c *comparison) written() {
	for _, s := range []*ruleset.Set{c.old, c.new} {
		for _, r := range s.Rules {
			for _, line := range slices.Concat(r.Match, r.NotMatch) {
				found := c.ask(ruleset.Operation{Command: line, Dir: Root}, "", false)
				if found != nil && len(found.Regions) == 0 {
					found.add(Region{Where: line}, false)
				}
			}
		}
	}
}

// settle marks the classes that add nothing for a reader, and puts the others in order.
func (c *comparison) settle() {
	for _, x := range c.out.Classes {
		if x.aside {
			x.Regions = x.unusual
		}
		x.Beside = x.aside && slices.ContainsFunc(c.out.Classes, func(o *Class) bool {
			return !o.aside && o.New.Outcome == x.New.Outcome && o.Wider() == x.Wider() && decisive(o) == decisive(x)
		})
	}
	slices.SortStableFunc(c.out.Classes, func(a, b *Class) int {
		order := func(x *Class) int { return slices.Index([]bool{true, false}, x.Wider()) }
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(rank(b.New.Outcome), rank(a.New.Outcome)))
	})
}

// decisive is the rule to which a difference is owed: the rule that decides now, or else the rule that did.
func decisive(c *Class) *ruleset.Rule {
	if c.New.Outcome == ruleset.Unknown {
		return c.Old.Rule
	}
	return c.New.Rule
}

// dialects compares lines that two shells read in different ways, under the rules of the new
// ruleset. All other lines are compared as the shell of that ruleset reads them.
func (c *comparison) dialects() {
	before := *c.new
	before.Shell, c.old.Shell = c.old.Shell, c.new.Shell
	if before.Shell == c.new.Shell {
		return
	}
	c.widerShell = c.new.Shell == shell.Bash
	where := "lines that bash and sh read in different ways"
	c.sampled(where)
	for _, name := range c.named() {
		op := ruleset.Operation{Command: shellword.Quote(name) + " <<< x", Dir: Root}
		was, is := before.Decide(op, Host()), c.new.Decide(op, Host())
		if was.Outcome != is.Outcome {
			a, b := was.Cause(), is.Cause()
			c.out.Classes = append(c.out.Classes, &Class{
				Old: Side{was.Outcome, a.Rule, a.Why}, New: Side{is.Outcome, b.Rule, b.Why},
				Regions: []Region{{Where: where}}, Example: op,
			})
			return
		}
	}
}

// sampled notes a part of which examples are compared. Rules that are added and deny cannot make a
// ruleset wider; nor can the change to sh, whose lines are read as by bash as well.
// See decision D161.
func (c *comparison) sampled(what string) {
	c.out.Sampled = append(c.out.Sampled, what)
	if len(c.out.Sampled) > 1 {
		return // the answer is the same
	}
	rest := c.old.Rules
	for _, r := range c.new.Rules {
		switch {
		case len(rest) > 0 && equal(rest[:1], []*ruleset.Rule{r}):
			rest = rest[1:]
		case r.Outcome != ruleset.Deny:
			c.out.Open = true
		}
	}
	c.out.Open = c.out.Open || len(rest) > 0 || c.widerShell
}

// add adds a region to a class, one of usual or of unusual forms.
func (c *Class) add(r Region, aside bool) {
	to := &c.Regions
	if aside {
		to = &c.unusual
	}
	if !slices.ContainsFunc(*to, func(o Region) bool { return o.Where == r.Where }) {
		*to = append(*to, r)
	}
}
