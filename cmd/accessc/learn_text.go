package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/propose/learn"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
)

// learnFormat and learnVersion identify the document of --json.
const (
	learnFormat  = "accessc/learn"
	learnVersion = 1
)

// learnDoc is the runs and the proposals, for programs.
type learnDoc struct {
	Format     string            `json:"format"`
	Version    int               `json:"format_version"`
	Tool       string            `json:"tool"`
	Runs       []learnRun        `json:"runs"`
	Operations []learn.Operation `json:"operations"`
	Proposals  []learnProposal   `json:"proposals"`
	Left       []allow.Left      `json:"left"`
	Unused     []allow.Unused    `json:"unused"`
	HeldOut    *heldOutDoc       `json:"held_out,omitempty"`
}

// learnRun is one kept run.
type learnRun struct {
	Command []string `json:"command"`
	Ended   string   `json:"ended"`
	Status  int      `json:"status"`
	Used    int      `json:"used"`
	Refused int      `json:"refused"`
}

// learnProposal is the addition to one layer.
type learnProposal struct {
	File  string        `json:"file"`
	Rules []allow.Added `json:"rules"`
	Text  string        `json:"text"`
}

// heldOutDoc is how the last run would have fared.
type heldOutDoc struct {
	Operations int               `json:"operations"`
	Refused    []learn.Operation `json:"refused"`
}

// document is the runs and the proposals. The indices of operations are those of the list.
func (l *learner) document(f *learned, held *heldOutDoc) learnDoc {
	doc := learnDoc{
		Format: learnFormat, Version: learnVersion, Tool: l.tool, Runs: []learnRun{}, Operations: f.joined.Operations,
		Proposals: []learnProposal{}, Left: []allow.Left{}, Unused: append([]allow.Unused{}, f.unused...), HeldOut: held,
	}
	for _, r := range f.runs {
		doc.Runs = append(doc.Runs, learnRun{r.Command, r.Ended, r.Status, len(r.Used), len(r.Denials)})
	}
	for _, x := range f.lessons {
		for _, left := range x.Left {
			doc.Left = append(doc.Left, allow.Left{Entries: mapped(x.index, left.Entries), Why: left.Why})
		}
		if x.Plan == nil {
			continue
		}
		p := learnProposal{File: x.Plan.Name, Text: string(x.Plan.New)}
		for _, a := range x.Plan.Added {
			a.Entries = mapped(x.index, a.Entries)
			p.Rules = append(p.Rules, a)
		}
		doc.Proposals = append(doc.Proposals, p)
	}
	return doc
}

func mapped(index, entries []int) []int {
	out := make([]int, len(entries))
	for i, e := range entries {
		out[i] = index[e]
	}
	return out
}

// note is the comment above a rule.
func (f *learned) note(a allow.Added, index []int) string {
	if len(a.Entries) == 0 {
		return visible.Line("for a supervisor, which alone permits what was recorded: " + operationText(denial.Entry{Question: []string{f.joined.Served}}))
	}
	times, runs := 0, 0
	for _, i := range a.Entries {
		o := f.joined.Operations[index[i]]
		times, runs = times+o.Times, max(runs, o.Runs)
	}
	first := f.joined.Operations[index[a.Entries[0]]].Entry
	s := fmt.Sprintf("recorded %s", plural.Count(times, "time"))
	if f.joined.Runs > 1 {
		s += fmt.Sprintf(" in %d of %d runs", runs, f.joined.Runs)
	}
	s += ", first: " + operationText(first)
	if first.Sought {
		s = "a run that failed looked in its own home for " + first.Target
	}
	if r := a.Reach; r.Files > 0 {
		more := ""
		if r.More {
			more = "at least "
		}
		s += fmt.Sprintf("; adds %s%s that %s not used, such as %s", more, plural.Count(r.Files, "existing file"),
			map[bool]string{true: "was", false: "were"}[r.Files == 1], strings.Join(r.Examples, ", "))
	}
	for _, b := range a.Reach.Beyond {
		s += "; adds " + b
	}
	return visible.Line(s)
}

// operationText is an operation in a line. A name with a line break begins none of its own.
func operationText(e denial.Entry) string {
	words := e.Question
	if e.Target != "" || len(words) == 0 {
		words = []string{e.Operation, e.Target}
		if e.To != "" {
			words = append(words, "to", e.To)
		}
	}
	out := make([]string, len(words))
	home, _ := os.UserHomeDir() // without one no path is shortened
	for i, w := range words {
		out[i] = w
		if rest, ok := strings.CutPrefix(w, home+"/"); ok && home != "" {
			out[i] = "~/" + rest
		}
	}
	return visible.Line(strings.TrimSpace(strings.Join(out, " ")))
}

// show prints the patch on standard output, and its summary on standard error.
func (l *learner) show(f *learned) error {
	if l.HTML != "" {
		if err := l.page(f); err != nil {
			return err
		}
	}
	if l.JSON {
		return l.writeJSON(l.document(f, nil))
	}
	fmt.Fprint(l.stderr, visible.Lines(l.summary(f)))
	if l.UntilGreen > 0 && f.plans() == 0 {
		return nil
	}
	for _, x := range f.lessons {
		if x.Plan == nil {
			continue
		}
		if err := writeDiff(l.stdout, x.Plan.Name, x.Plan.Old, x.Plan.New); err != nil {
			return err
		}
	}
	return nil
}

// summary counts the runs and the operations, and lists the operations that get no rule.
func (l *learner) summary(f *learned) string {
	var b strings.Builder
	used, refused := 0, 0
	var entries []denial.Entry
	for _, o := range f.joined.Operations {
		switch {
		case o.Sought:
		case o.Refused > 0:
			if f.planner == nil || !f.planner.Permits(o.Entry) {
				entries = append(entries, o.Entry)
			}
			refused++
		default:
			used++
		}
	}
	fmt.Fprintf(&b, "%s of %s recorded: %s used, %d refused\n", plural.Count(f.joined.Runs, "run"), l.name(), plural.Count(used, "operation"), refused)
	if last := f.runs[len(f.runs)-1]; learn.Failed(last.Status) {
		fmt.Fprintf(&b, "the last run failed, with status %d: it shows nothing of later operations\n", last.Status)
	}
	if l.tool == "" {
		b.WriteString(f.unnamed())
		return b.String()
	}
	if f.plans() == 0 {
		b.WriteString("no rule is proposed\n")
	}
	b.WriteString(presetsText(slices.DeleteFunc(presetsAbout(entries), f.extends)))
	for _, x := range f.lessons {
		b.WriteString(f.leftText(x))
		if x.Unserved {
			fmt.Fprintf(&b, "not permitted: %s: it needs a supervisor, which late = \"open\" asks for\n", f.joined.Served)
		}
		if paths := x.approvals(); len(paths) > 0 {
			fmt.Fprintf(&b, "external rules take effect once you approve where they lead: accessc approve %s\n", strings.Join(paths, " "))
		}
	}
	for i, u := range f.unused {
		if i == 0 {
			b.WriteString("no recorded run used these rules; other runs may need them:\n")
		}
		fmt.Fprintf(&b, "  %s %s, %s:%d\n", u.Resource, visible.Text(u.Rule), visible.Text(u.File), u.Line)
	}
	if f.joined.Lacks {
		b.WriteString("some runs did more than is recorded; which rules are not used is not known\n")
	}
	return b.String()
}

// leftText lists the operations that get no rule, but no more than a few for one reason in directories side by side.
func (f *learned) leftText(x lesson) string {
	const most = 5
	var b strings.Builder
	alike := map[string]int{}
	var many []string
	for _, left := range x.Left {
		for _, i := range left.Entries {
			e, why := f.joined.Operations[x.index[i]].Entry, left.Why
			if e.Question == nil {
				why += ": " + e.Reason
			}
			about := e.Operation + " below " + path.Dir(path.Dir(operationTarget(e))) + ": " + why
			if alike[about]++; alike[about] <= most {
				fmt.Fprintf(&b, "not proposed: %s: %s\n", operationText(e), visible.Line(why))
			} else if alike[about] == most+1 {
				many = append(many, about)
			}
		}
	}
	for _, about := range many {
		fmt.Fprintf(&b, "not proposed: %d more times %s\n", alike[about]-most, visible.Line(about))
	}
	return b.String()
}

// operationTarget is the first place of an operation.
func operationTarget(e denial.Entry) string {
	if e.Target == "" && len(e.Question) > 1 {
		return e.Question[1]
	}
	return e.Target
}

// extends reports whether a preset is proposed, or waits for the approval of its places.
func (f *learned) extends(preset string) bool {
	return slices.ContainsFunc(f.lessons, func(x lesson) bool {
		return slices.Contains(x.Waiting, source.Preset+preset) || x.Plan != nil && slices.Contains(x.Plan.Presets, preset)
	})
}

// approvals are the paths of external rules that need an approval.
func (x lesson) approvals() []string {
	out := slices.Clone(x.Waiting)
	if x.Plan != nil {
		out = append(out, slices.Collect(maps.Keys(x.Plan.Approve))...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unnamed lists the refusals of commands that no configuration names.
func (f *learned) unnamed() string {
	var b strings.Builder
	for _, o := range f.joined.Operations {
		if o.Refused > 0 {
			fmt.Fprintf(&b, "  %s\n", operationText(o.Entry))
		}
	}
	b.WriteString("no configuration names this command, so no rule can be about it; accessc learn --from default NAME -- COMMAND makes a tool of it\n")
	return b.String()
}

// heldOutText says whether the last run would have been permitted.
func heldOutText(runs, operations int, refused []learn.Operation) string {
	if len(refused) == 0 {
		return fmt.Sprintf("the rules from %s would have permitted the last run: %s\n", plural.Count(runs-1, "run"), plural.Count(operations, "operation"))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the rules from %s would have refused %d of %s of the last run:\n", plural.Count(runs-1, "run"), len(refused), plural.Count(operations, "operation"))
	for _, o := range refused {
		fmt.Fprintf(&b, "  %s\n", operationText(o.Entry))
	}
	return b.String()
}
