package learn

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
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
)

// note is the comment above a rule.
func (f *Learned) note(a allow.Added, index []int) string {
	if len(a.Entries) == 0 {
		served := operationText(denial.Entry{Question: []string{f.joined.Served}})
		return visible.Line("for a supervisor, which alone permits what was recorded: " + served)
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

// Summary counts the runs and the operations, and lists the operations that get no rule.
func (l *Session) Summary(f *Learned) string {
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
	fmt.Fprintf(&b, "%s of %s recorded: %s used, %d refused\n", plural.Count(f.joined.Runs, "run"), l.Name(),
		plural.Count(used, "operation"), refused)
	if last := f.runs[len(f.runs)-1]; Failed(last.Status) {
		fmt.Fprintf(&b, "the last run failed, with status %d: it shows nothing of later operations\n", last.Status)
	}
	if l.Tool == "" {
		b.WriteString(f.unnamed())
		return b.String()
	}
	if f.Plans() == 0 {
		b.WriteString("no rule is proposed\n")
	}
	b.WriteString(allow.PresetsText(slices.DeleteFunc(allow.PresetsAbout(entries), f.extends)))
	for _, x := range f.lessons {
		b.WriteString(f.leftText(x))
		if x.Unserved {
			fmt.Fprintf(&b, "not permitted: %s: it needs a supervisor, which late = \"open\" asks for\n",
				f.joined.Served)
		}
		if paths := x.approvals(); len(paths) > 0 {
			fmt.Fprintf(&b, "external rules take effect once you approve where they lead: accessc approve %s\n",
				strings.Join(paths, " "))
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
func (f *Learned) leftText(x lesson) string {
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
func (f *Learned) extends(preset string) bool {
	return slices.ContainsFunc(f.lessons, func(x lesson) bool {
		return slices.Contains(x.Waiting, source.Preset+preset) ||
			x.Plan != nil && slices.Contains(x.Plan.Presets, preset)
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
func (f *Learned) unnamed() string {
	var b strings.Builder
	for _, o := range f.joined.Operations {
		if o.Refused > 0 {
			fmt.Fprintf(&b, "  %s\n", operationText(o.Entry))
		}
	}
	b.WriteString("no configuration names this command, so no rule can be about it; " +
		"accessc learn --from default NAME -- COMMAND makes a tool of it\n")
	return b.String()
}

// HeldOutText says whether the last run would have been permitted.
func HeldOutText(runs int, held *HeldOut) string {
	operations, refused := held.Operations, held.Refused
	if len(refused) == 0 {
		return fmt.Sprintf("the rules from %s would have permitted the last run: %s\n", plural.Count(runs-1, "run"),
			plural.Count(operations, "operation"))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the rules from %s would have refused %d of %s of the last run:\n", plural.Count(runs-1, "run"),
		len(refused), plural.Count(operations, "operation"))
	for _, o := range refused {
		fmt.Fprintf(&b, "  %s\n", operationText(o.Entry))
	}
	return b.String()
}
