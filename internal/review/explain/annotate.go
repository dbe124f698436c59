package explain

import (
	"io"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// opposite turns the class of a widening into the class of its mirror image.
var opposite = strings.NewReplacer("widened", "narrowed", "added", "removed", "weakened", "strengthened")

// classOf is the class that a difference is annotated with: the first.
func classOf(d compare.Difference) diag.Code {
	class := classes(d)[0]
	if !d.Wider {
		class = opposite.Replace(class)
	}
	return diag.Code(class)
}

// Severities are the severities of results that a gate may be about; a narrower difference is a
// note.
type Severities struct {
	Wider    diag.Severity // of a tool that may do more, and a wider ruleset
	Settings diag.Severity // of a tool with other settings
}

// Results returns the differences and the other settings as results, each at the line of the new side that caused it.
func Results(cs []Change, of Severities) diag.List {
	var out diag.List
	for _, c := range condensed(cs) {
		for _, d := range c.Differences {
			r := diag.Diagnostic{Code: classOf(d), Severity: diag.Note, Message: sentence(c.title(), d), At: c.cause(d)}
			if d.Wider {
				r.Severity = of.Wider
			}
			if d.Example != "" {
				r.Label = `such as "` + clean(d.Example) + `"`
			}
			if ofPreset(d) {
				r.Related = []diag.Related{{Note: "by " + clean(place(d.New))}}
			}
			if was := place(d.Old); was != "" && was != place(d.New) {
				r.Related = append(r.Related, diag.Related{Note: "was " + clean(was)})
			}
			out.Add(r)
		}
		for _, s := range c.Settings {
			out.Add(c.annotation(s, of.Settings))
		}
	}
	return out
}

// sentence describes the effect of a difference on a tool.
func sentence(tool string, d compare.Difference) string {
	may := " may now "
	switch {
	case d.Kind == compare.Presence && d.Wider:
		return clean(tool) + " is a new tool: " + clean(d.Where)
	case d.Kind == compare.Presence:
		return clean(tool) + " is gone: " + clean(d.Where)
	case d.Kind == compare.Nesting && d.Wider:
		return clean(tool) + " may now " + clean(d.What) + ", " + clean(d.Where)
	case d.Kind == compare.Nesting:
		return clean(tool) + " may no longer " + clean(d.What) + ", " + clean(d.Where)
	case d.Kind == compare.Ruling:
		return clean(tool) + " " + rulings[d.What] + " " + clean(region(d))
	case d.Kind == compare.Enforcement:
		return clean(tool) + ": " + clean(d.What) + " on " + clean(d.Where)
	case !d.Wider:
		may = " may no longer "
	}
	at := " "
	if d.Kind == compare.Inspection || d.Kind == compare.Credentials || d.What == "listen" {
		at = " at "
	}
	return clean(tool + may + d.What + at + region(d))
}

// ofPreset reports whether a rule of a preset decides now: no file of a repository has it.
func ofPreset(d compare.Difference) bool {
	return d.New.Rule != nil && d.New.Rule.Source().Layer == ir.LayerPreset
}

// cause returns the line of the new side that a difference comes from: the rule or the value that decides now; of a
// preset's rule the tool that extends it. Where nothing there decides, because a rule is gone or a default applies, it
// is the tool itself; a tool that is gone has no line.
// See decision D467.
func (c Change) cause(d compare.Difference) ir.Pos {
	if c.Ruleset {
		return d.New.At.Pos
	}
	if d.New.Rule != nil && d.New.Rule.Source().Pos.File != "" && (c.New == nil || !ofPreset(d)) {
		return d.New.Rule.Source().Pos
	}
	if c.New == nil {
		return ir.Pos{}
	}
	if at := valueAt(c.New, d); at.File != "" {
		return at
	}
	return c.New.Source.Origin.Pos
}

// valueAt returns the place of the setting that a difference without a rule is about.
func valueAt(t *ir.Tool, d compare.Difference) ir.Pos {
	switch d.Kind {
	case compare.Bound:
		for _, l := range t.Limits {
			if l.Kind.String() == d.Where {
				return l.Origin.Pos
			}
		}
	case compare.Unheld:
		for _, a := range t.Accept {
			if string(a.Gap) == d.Where {
				return a.Origin.Pos
			}
		}
	case compare.Invocation:
		if t.Constraints != nil {
			return t.Constraints.Origin.Pos
		}
	case compare.Grant:
		if d.Resource == ir.Commands && t.Commands != nil {
			return t.Commands.Origin.Pos
		}
	case compare.Presence, compare.Confinement, compare.Sharing, compare.Enforcement, compare.Inspection,
		compare.Credentials, compare.Ruling, compare.Live, compare.Nesting, compare.Calling:
	}
	return ir.Pos{}
}

// ChangesGitHub renders a comparison as annotations of a workflow.
func ChangesGitHub(w io.Writer, cs []Change, of Severities, places diag.Places) error {
	return diag.WriteGitHub(w, Results(cs, of), places)
}

// ChangesSARIF renders a comparison as a SARIF 2.1.0 log.
func ChangesSARIF(w io.Writer, cs []Change, of Severities, places diag.Places) error {
	return diag.WriteResults(w, ResultRules(of), Results(cs, of), places)
}

// ResultRules are the rules of the results of a comparison.
func ResultRules(of Severities) []diag.Rule {
	var rules []diag.Rule
	for _, r := range kinds {
		rules = append(rules,
			diag.Rule{ID: diag.Code(r.class), Title: r.title, Severity: of.Wider},
			diag.Rule{ID: diag.Code(opposite.Replace(r.class)), Title: r.less, Severity: diag.Note})
	}
	return append(rules, diag.Rule{ID: settingsClass, Title: "a tool has other settings, such as what it runs",
		Severity: of.Settings})
}

// kinds are the classes with their titles, and the titles of their opposites.
var kinds = []struct{ class, title, less string }{
	{"tool.added", "a tool is new", "a tool is gone"},
	{"tool.source.widened", "a tool is no longer started by accessc", "a tool is started by accessc"},
	{"tool.filesystem.widened", "more of the files", "less of the files"},
	{"tool.exec.widened", "more programs or arguments", "fewer programs or arguments"},
	{"tool.network.widened", "more of the network", "less of the network"},
	{"tool.credentials.widened", "a credential is used in more requests", "a credential is used in fewer requests"},
	{"tool.environment.widened", "more variables", "fewer variables"},
	{"tool.may.widened", "more can be granted while the tool runs", "less can be granted while the tool runs"},
	{"tool.limits.widened", "a limit is looser or gone", "a limit is new or tighter"},
	{"tool.constraints.widened", "a constraint is looser or gone", "a constraint is new or tighter"},
	{"tool.calls.widened", "more tools of a server may be called", "fewer tools of a server may be called"},
	{"tool.home.widened", "its home is shared with other tools", "its home is no longer shared with other tools"},
	{"tool.accept.widened", "a gap is accepted", "a gap is no longer accepted"},
	{"tool.enforcement.weakened", "a system enforces a cell less", "a system enforces a cell better"},
	{"workspace.added", "a further workspace, or tools start there", "no further workspace, or no tools start there"},
	{"ruleset.widened", "a ruleset allows more or denies less", "a ruleset allows less or denies more"},
}
