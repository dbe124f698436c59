package explain

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ir/compare"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulediff"
	"github.com/accessc/accessc/ruleset/rulejson"
)

// verdicts are the words for a ruleset's verdict, and rulings the words in a sentence.
var verdicts = map[ruleset.Outcome]string{
	ruleset.Allow: "allow", ruleset.Deny: "deny", ruleset.Ask: "ask", ruleset.Unknown: "leave open",
}

var rulings = map[string]string{
	"allow": "now allows", "deny": "now denies", "ask": "now asks about", "leave open": "now leaves open",
	byExamples: "may differ further about",
}

// byExamples stands for the operations of a ruleset that are too many to be compared. They count as
// wider where they may be.
const byExamples = "may differ further"

// RulesetChanges compares the rulesets of two sides by name. A ruleset that a side lacks is
// compared with a ruleset that decides nothing.
func RulesetChanges(old, new []*ruleset.Set) []Change {
	var out []Change
	for _, name := range setNames(old, new) {
		a, b := findSet(old, name), findSet(new, name)
		found := rulediff.Compare(a, b)
		c := Change{Name: name, Ruleset: true, Comparison: found}
		switch {
		case a == nil:
			c.Status = "added"
		case b == nil:
			c.Status = "removed"
		}
		for _, x := range found.Classes {
			c.Differences = append(c.Differences, ruling(x))
		}
		if len(found.Sampled) > 0 {
			c.Differences = append(c.Differences, compare.Difference{
				Kind: compare.Ruling, Wider: found.Open, What: byExamples,
				Where: strings.Join(found.Sampled, ", "), Regions: found.Sampled,
			})
		}
		c.Verdict = compare.Sum(c.Differences)
		out = append(out, c)
	}
	return out
}

func setNames(sides ...[]*ruleset.Set) []string {
	var out []string
	for _, s := range slices.Concat(sides...) {
		out = append(out, s.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func findSet(sets []*ruleset.Set, name string) *ruleset.Set {
	i := slices.IndexFunc(sets, func(s *ruleset.Set) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return sets[i]
}

// ruling is a class in the form of all differences.
func ruling(c *rulediff.Class) compare.Difference {
	d := compare.Difference{
		Kind: compare.Ruling, Wider: c.Wider(), What: verdicts[c.New.Outcome],
		Example: asDecided(c.Example), Beside: c.Beside, Old: ruledAt(c.Old), New: ruledAt(c.New),
	}
	for _, r := range c.Regions {
		text := r.Where
		if n := len(r.Except); n > 0 {
			text += " but " + strings.Join(r.Except[:min(n, maxExcept)], ", ")
			if n > maxExcept {
				text += " and " + strconv.Itoa(n-maxExcept) + " more"
			}
		}
		d.Regions = append(d.Regions, text)
	}
	d.Where = strings.Join(d.Regions, ", ")
	return d
}

func ruledAt(s rulediff.Side) compare.Side {
	if s.Rule == nil {
		return compare.Side{}
	}
	return compare.Side{At: s.Rule.Origin}
}

// asDecided writes an operation as the arguments of accessc decide, a command line in the
// workspace's root as it is.
func asDecided(op ruleset.Operation) string {
	in := ""
	if op.Dir != rulediff.Root {
		in = "--cwd " + directory(op.Dir) + " -- "
	}
	switch {
	case op.Kind == ruleset.Execute && in == "":
		return op.Command
	case op.Kind == ruleset.Execute:
		return in + shellword.Quote(op.Command)
	}
	words := []string{"--operation", op.Kind.String()}
	for _, p := range append(slices.Clone(op.Paths), op.URL) {
		if p != "" {
			words = append(words, shellword.Quote(directory(p)))
		}
	}
	return strings.Join(words, " ")
}

// directory writes a path of a comparison: a path in the workspace from its root.
func directory(p string) string {
	if p == rulediff.Root || strings.HasPrefix(p, rulediff.Root+"/") {
		return rulejson.Below(rulediff.Root, p)
	}
	return p
}

// title names a tool or a ruleset. No tool's name has a blank.
func (c Change) title() string {
	in := ""
	if c.Workspace != "" {
		in = " in " + c.Workspace
	}
	switch {
	case c.Further:
		return "workspace " + c.Workspace
	case c.Ruleset:
		return "ruleset " + c.Name + in
	}
	return c.Name + in
}

// rulesetsHeadline counts the rulesets that are wider, and narrower.
func rulesetsHeadline(cs []Change) string {
	out := ""
	for _, kind := range []struct {
		verdict compare.Verdict
		word    string
	}{{compare.Widened, "wider"}, {compare.Narrowed, "narrower"}} {
		n := 0
		for _, c := range cs {
			if c.Verdict == kind.verdict || c.Verdict == compare.Changed {
				n++
			}
		}
		switch {
		case n == 1:
			out += ", 1 ruleset is " + kind.word
		case n > 1:
			out += ", " + plural.Count(n, "ruleset") + " are " + kind.word
		}
	}
	return out
}

// unchanged counts the tools for which nothing has changed.
func unchanged(cs []Change) int {
	tools := slices.DeleteFunc(slices.Clone(cs), func(c Change) bool { return c.Ruleset || c.Further })
	return len(tools) - len(Differing(tools))
}

// RulingsDoc is a ruleset's part of a comparison in JSON.
type RulingsDoc struct {
	Ruleset     string      `json:"ruleset"`
	Workspace   string      `json:"workspace,omitempty"`
	Status      string      `json:"status,omitempty"`
	Verdict     string      `json:"verdict"`
	Differences []RulingDoc `json:"differences"`
	// Sampled are the parts of which examples were compared, and not all operations; if Open, the
	// new side may be wider there.
	Sampled []string `json:"sampled,omitempty"`
	Open    bool     `json:"open,omitempty"`
}

// RulingDoc is a class of operations that is judged in another way than before.
type RulingDoc struct {
	Wider   bool        `json:"wider"`
	Old     JudgedDoc   `json:"old"`
	New     JudgedDoc   `json:"new"`
	Regions []RegionDoc `json:"regions"`
	// Example is one of the operations, as accessc decide takes it.
	Example string `json:"example"`
	// Beside is true where another difference says the same of more usual forms.
	Beside bool `json:"beside,omitempty"`
}

// JudgedDoc is a verdict and the place of the rule that decides.
type JudgedDoc struct {
	Verdict string `json:"verdict"`
	// Ask is true where a rule has a person asked.
	Ask  bool   `json:"ask,omitempty"`
	Rule string `json:"rule,omitempty"`
	Why  string `json:"why,omitempty"`
}

// RegionDoc is a part of a class.
type RegionDoc struct {
	Where  string   `json:"where"`
	Except []string `json:"except,omitempty"`
}

func rulingsDoc(c Change) RulingsDoc {
	out := RulingsDoc{Ruleset: c.Name, Workspace: c.Workspace, Status: c.Status, Verdict: c.Verdict.String(),
		Differences: []RulingDoc{}, Sampled: c.Sampled, Open: c.Open}
	for _, x := range c.Classes {
		d := RulingDoc{Wider: x.Wider(), Old: judgedDoc(x.Old), New: judgedDoc(x.New), Example: asDecided(x.Example),
			Beside: x.Beside}
		for _, r := range x.Regions {
			d.Regions = append(d.Regions, RegionDoc(r))
		}
		out.Differences = append(out.Differences, d)
	}
	return out
}

func judgedDoc(s rulediff.Side) JudgedDoc {
	return JudgedDoc{s.Outcome.Verdict(), s.Outcome == ruleset.Ask, place(ruledAt(s)), s.Why}
}
