package explain

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
	"github.com/accessc/accessc/ruleset/rulediff"
)

// Change is the difference of a tool, or of a ruleset, between two configurations.
type Change struct {
	Name string
	// Workspace is the path of the further workspace that it is about, empty for the workspace of the comparison;
	// Further is true for the workspace itself.
	Workspace string
	Further   bool
	// Ruleset is true for a ruleset, which Comparison is about.
	Ruleset bool
	rulediff.Comparison
	// Status is "added" or "removed", empty for a tool that both sides have.
	Status      string
	Verdict     compare.Verdict
	Differences []compare.Difference
	// Settings are all other differences. They permit nothing, so Verdict is without them.
	Settings []compare.Setting
	// Old and New are the tool as it was and as it is now, nil where there is none.
	Old, New *ir.Tool
	// Risk is the class before and after, empty where there is no policy.
	Risk [2]string
}

// RaisesRisk reports whether the class is higher than before. For a tool that is new, its
// presence says so.
func (c Change) RaisesRisk() bool {
	rank := func(s string) int { return slices.Index([]string{"", "low", "medium", "high"}, s) }
	return c.Risk[0] != "" && rank(c.Risk[1]) > rank(c.Risk[0])
}

// Changes compares all tools of two sides by name. A tool that one side lacks is compared with
// an empty policy, so it counts with all its permissions.
func Changes(old, new []compare.Policy) []Change {
	var names []string
	for _, p := range slices.Concat(old, new) {
		names = append(names, p.Tool.Name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	out := make([]Change, len(names))
	var tasks sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, name := range names {
		limit <- struct{}{}
		tasks.Go(func() {
			out[i] = change(old, new, name)
			<-limit
		})
	}
	tasks.Wait()
	return called(out, old, new)
}

func change(old, new []compare.Policy, name string) Change {
	a, had := find(old, name)
	b, has := find(new, name)
	c := Change{Name: name, Old: a.Tool, New: b.Tool, Risk: [2]string{risk(a), risk(b)},
		Settings: compare.Settings(a.Tool, b.Tool)}
	if had && has {
		c.Differences = compare.Policies(a, b)
	} else {
		c.Status, c.Differences = alone(a, b, has)
	}
	c.Verdict = compare.Sum(c.Differences)
	return c
}

func risk(p compare.Policy) string {
	if p.Tool == nil || p.Tool.Source.Kind != ir.SourceLocal {
		return ""
	}
	// A written risk is a setting: a higher word permits nothing.
	return ir.NewView(p.Tool, ir.Linux, ir.Facts{}).Granted().String()
}

// alone compares a tool that one side lacks with nothing. Being started at all is
// something that the other side does not permit.
// See decision D371.
func alone(old, new compare.Policy, added bool) (status string, ds []compare.Difference) {
	status, t := "removed", old.Tool
	if added {
		status, t = "added", new.Tool
	}
	if t.Source.Kind == ir.SourceMCP && t.Source.Detail != "" {
		return status, nil // what counts is whether it may be called
	}
	ds = []compare.Difference{{Kind: compare.Presence, Wider: added, What: "be started", Where: t.Source.String()}}
	if t.Source.Kind != ir.SourceLocal {
		return status, ds
	}
	// Weaker enforcement is a difference between two policies, and here is only one policy.
	none, one := compare.Nothing(t), compare.Policy{Tool: t}
	if added {
		return status, append(ds, compare.Policies(none, one)...)
	}
	if t.Server() {
		ds[0].Where += ", its name has the default policy"
		none.Tool = ir.NewTool(t.Name)
	}
	return status, append(ds, compare.Policies(one, none)...)
}

func find(ps []compare.Policy, name string) (compare.Policy, bool) {
	for _, p := range ps {
		if p.Tool.Name == name {
			return p, true
		}
	}
	return compare.Policy{}, false
}

// Widened reports whether any tool may do more.
func Widened(cs []Change) bool {
	return slices.ContainsFunc(cs, func(c Change) bool {
		return c.Verdict == compare.Widened || c.Verdict == compare.Changed
	})
}

// WidenedLive reports whether more can be granted to any tool while it runs.
func WidenedLive(cs []Change) bool {
	return slices.ContainsFunc(cs, func(c Change) bool {
		return slices.ContainsFunc(c.Differences, func(d compare.Difference) bool {
			return d.Wider && d.Kind == compare.Live
		})
	})
}

// OtherSettings reports whether a tool that both sides have runs something else, or has another such setting.
func OtherSettings(cs []Change) bool {
	return slices.ContainsFunc(cs, Change.otherSettings)
}

// Differing leaves out the tools for which nothing has changed.
func Differing(cs []Change) []Change {
	return slices.DeleteFunc(slices.Clone(cs), func(c Change) bool { return !c.Differs() })
}

// Differs reports whether anything has changed, permissions or settings.
func (c Change) Differs() bool {
	return c.Verdict != compare.Equivalent || c.Status != "" || len(c.Settings) > 0
}

// heldLess reports whether nothing but how systems hold a policy makes a tool's wider.
func (c Change) heldLess() bool {
	return !slices.ContainsFunc(c.Differences, func(d compare.Difference) bool {
		return d.Wider && d.Kind != compare.Enforcement
	})
}

// headline counts the tools that may do more, and less, and the rulesets.
func headline(cs []Change) string {
	sets, tools := []Change{}, []Change{}
	for _, c := range cs {
		switch {
		case c.Ruleset:
			sets = append(sets, c)
		case !c.Further:
			tools = append(tools, c)
		}
	}
	return toolsHeadline(tools) + settingsHeadline(tools) + rulesetsHeadline(sets) + furtherHeadline(cs)
}

// toolsHeadline counts the tools that may do more, the tools that may do less, and the tools that
// a system holds less although their policy permits no more.
func toolsHeadline(cs []Change) string {
	more, less, weaker := 0, 0, 0
	for _, c := range cs {
		switch wider := c.Verdict == compare.Widened || c.Verdict == compare.Changed; {
		case wider && c.heldLess():
			weaker++
		case wider:
			more++
		}
		if c.Verdict == compare.Narrowed || c.Verdict == compare.Changed {
			less++
		}
	}
	if more+less+weaker == 0 {
		return "every tool may do what it could do before"
	}
	out := plural.Count(more, "tool") + " may do more, " + plural.Count(less, "tool") + " may do less"
	switch {
	case weaker == 1:
		out += ", 1 tool is held less"
	case weaker > 1:
		out += ", " + plural.Count(weaker, "tool") + " are held less"
	}
	return out
}

// ChangesText renders a comparison for a terminal.
func ChangesText(cs []Change, s Style) string {
	var b strings.Builder
	b.WriteString(headline(cs) + "\n")
	joined := 0
	for _, c := range Differing(usual(cs)) {
		if !s.Regions {
			var n int
			c.Differences, n = folded(c.Differences)
			joined += n
		}
		b.WriteString("\n" + s.paint(bold, clean(c.title())) + "    " + c.summary() + "\n")
		var rows [][]string
		for _, d := range c.Differences {
			rows = append(rows, []string{mark(d), d.What, region(d), d.Example, because(d)})
		}
		wrapped, _ := s.fit(rows, 2)
		for _, row := range table(wrapped) {
			if strings.HasPrefix(row, "+") {
				row = s.paint(yellow, "+") + row[1:]
			}
			b.WriteString("  " + row + "\n")
		}
		b.WriteString(settingsText(c, s))
	}
	if joined > 0 {
		b.WriteString("\n--why has the regions line by line\n")
	}
	return b.String()
}

func (c Change) summary() string {
	switch {
	case c.Status != "":
		return c.Status
	case c.Verdict == compare.Equivalent && len(c.Settings) > 0:
		return "may do what it could do before"
	default:
		return c.Verdict.String()
	}
}

func mark(d compare.Difference) string {
	if d.Wider {
		return "+"
	}
	return "-"
}

// maxExcept bounds the exceptions of a region that are spelled out. JSON has them all.
const maxExcept = 4

// region returns the place of a difference, the parts left out, and the systems if not all.
func region(d compare.Difference) string {
	out := d.Where
	if n := len(d.Regions); n > 0 {
		out = strings.Join(d.Regions[:min(n, maxExcept)], ", ")
		if n > maxExcept {
			out += " and " + strconv.Itoa(n-maxExcept) + " more"
		}
	}
	if d.Resource == ir.Limits && d.Limits != [2]uint64{} {
		out += " up to " + bound(d, 1) + ", was " + bound(d, 0)
	}
	if except := exceptions(d); len(except) > 0 {
		out += " but " + strings.Join(except, ", ")
	}
	if len(d.Platforms) > 0 && d.Where != d.Platforms[0].String() {
		var names []string
		for _, p := range d.Platforms {
			names = append(names, systemName(p))
		}
		out += " (" + strings.Join(names, ", ") + ")"
	}
	return out
}

// exceptions are the parts that do not differ so: the first parts, how many more, and the
// protected paths as one.
func exceptions(d compare.Difference) []string {
	out := slices.Clone(d.Except[:min(len(d.Except), maxExcept)])
	if n := len(d.Except) - len(out); n > 0 {
		out[len(out)-1] += " and " + strconv.Itoa(n) + " more"
	}
	switch {
	case d.OfProtected() || len(d.Protected) == 0:
	case len(d.Protected) == 1:
		out = append(out, d.Protected[0])
	default:
		out = append(out, compare.Protected)
	}
	return out
}

// bound writes a value of a limit.
func bound(d compare.Difference, side int) string {
	i := slices.IndexFunc(ir.LimitKinds[:], func(k ir.LimitKind) bool { return k.String() == d.Where })
	if d.Limits[side] == 0 || i < 0 {
		return "any"
	}
	return limitText(ir.Limit{Kind: ir.LimitKinds[i], Value: d.Limits[side]})
}

// because names the lines that decide now and did before.
func because(d compare.Difference) string {
	was, is := place(d.Old), place(d.New)
	switch {
	case was == is:
		return is
	case was == "":
		return is
	case is == "":
		return "was " + was
	default:
		return is + ", was " + was
	}
}

func place(s compare.Side) string {
	switch {
	case s.Rule != nil:
		return s.Rule.Source().String()
	case s.At != ir.Origin{}:
		return s.At.String()
	case s.Reason == ir.ReasonNone || s.Reason == ir.ReasonDefault:
		return ""
	default:
		return s.Reason.String()
	}
}

// ChangesMarkdown renders a comparison as a comment on a pull request: the widenings
// in a table, everything else folded.
func ChangesMarkdown(cs []Change) string {
	var b strings.Builder
	b.WriteString("### accessc: " + headline(cs) + "\n")
	var wider, narrower []string
	for _, c := range condensed(cs) {
		for _, d := range c.Differences {
			row := "| " + strings.Join([]string{code(c.title()), escape(d.What), code(region(d)), code(d.Example),
				escape(because(d))}, " | ") + " |"
			if d.Wider {
				wider = append(wider, row)
			} else {
				narrower = append(narrower, row)
			}
		}
	}
	const head = "\n| tool | what | where | example | because |\n|---|---|---|---|---|\n"
	if len(wider) > 0 {
		b.WriteString("\n⚠ **Wider**\n" + head + strings.Join(wider, "\n") + "\n")
	}
	if len(narrower) > 0 {
		b.WriteString("\n<details><summary>Narrower: " + plural.Count(len(narrower), "region") + "</summary>\n" +
			head + strings.Join(narrower, "\n") + "\n\n</details>\n")
	}
	b.WriteString(settingsMarkdown(cs))
	if same := unchanged(cs); same > 0 {
		b.WriteString("\n" + plural.Count(same, "tool") + " unchanged.\n")
	}
	return b.String()
}

// escape makes text safe inside a table of a Markdown document; code makes it literal.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "&", "&amp;", "|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "~", `\~`,
		"`", "\\`", "[", `\[`, "@", "&#64;").Replace(clean(s))
}

func code(s string) string {
	if s == "" {
		return ""
	}
	// Within a row, a backslash before an escaped bar would escape the backslash, and the bar end the cell.
	return "`" + strings.NewReplacer(`\|`, `\¦`, "|", `\|`, "`", "'").Replace(clean(s)) + "`"
}

// ChangesDocument is the JSON form of a comparison.
type ChangesDocument struct {
	Version  int          `json:"format_version"`
	Tools    []ChangeDoc  `json:"tools"`
	Rulesets []RulingsDoc `json:"rulesets"`
	// Workspaces are the workspaces in the workspace of the comparison.
	Workspaces []FurtherDoc `json:"workspaces,omitempty"`
	// Replay is the judgement of recorded runs, if there are any.
	Replay []ReplayDoc `json:"replay,omitempty"`
}

// ChangeDoc is a tool's part of a comparison.
type ChangeDoc struct {
	Tool        string          `json:"tool"`
	Workspace   string          `json:"workspace,omitempty"`
	Status      string          `json:"status,omitempty"`
	Verdict     string          `json:"verdict"`
	Differences []DifferenceDoc `json:"differences"`
	Settings    []SettingDoc    `json:"settings,omitempty"`
}

// DifferenceDoc is a region in which policies differ alike.
type DifferenceDoc struct {
	Resource string   `json:"resource"`
	Wider    bool     `json:"wider"`
	What     string   `json:"what"`
	Where    string   `json:"where"`
	Except   []string `json:"except,omitempty"`
	// Protected are the protected paths that Where stands for, or that are excepted as well.
	Protected []string `json:"protected,omitempty"`
	Example   string   `json:"example,omitempty"`
	Old       string   `json:"old,omitempty"`
	New       string   `json:"new,omitempty"`
	Platforms []string `json:"platforms,omitempty"`
	// Limits are the old and the new value of a limit, 0 for none.
	Limits []uint64 `json:"limits,omitempty"`
}

// ChangesJSON returns the machine-readable form.
func ChangesJSON(cs []Change) ChangesDocument {
	doc := ChangesDocument{Version: FormatVersion, Tools: []ChangeDoc{}, Rulesets: []RulingsDoc{}}
	for _, c := range cs {
		switch {
		case c.Ruleset:
			doc.Rulesets = append(doc.Rulesets, rulingsDoc(c))
			continue
		case c.Further:
			doc.Workspaces = append(doc.Workspaces, furtherDoc(c))
			continue
		}
		t := ChangeDoc{Tool: c.Name, Workspace: c.Workspace, Status: c.Status, Verdict: c.Verdict.String(),
			Differences: []DifferenceDoc{}}
		for _, d := range c.Differences {
			t.Differences = append(t.Differences, differenceDoc(d))
		}
		t.Settings = settingDocs(c.Settings)
		doc.Tools = append(doc.Tools, t)
	}
	return doc
}

func differenceDoc(d compare.Difference) DifferenceDoc {
	out := DifferenceDoc{
		Resource: d.Resource.String(), Wider: d.Wider, What: d.What, Where: d.Where, Except: d.Except,
		Protected: d.Protected, Example: d.Example, Old: place(d.Old), New: place(d.New),
	}
	if d.Limits != [2]uint64{} {
		out.Limits = d.Limits[:]
	}
	for _, p := range d.Platforms {
		out.Platforms = append(out.Platforms, p.String())
	}
	return out
}
