package denials

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
)

// UnwatchedText describes a run that no supervisor has seen, and the start under which one would.
func UnwatchedText(k *denial.Kept) string {
	again, learn := "accessc exec --trace "+k.Tool, "accessc learn --apply "+k.Tool+" -- COMMAND"
	switch command := (Document{Kept: *k}).learnCommand(); {
	case k.Unnamed:
		again, learn = "accessc exec --trace --command -- COMMAND", "accessc learn --from default --apply NAME -- COMMAND"
	case command != "":
		learn = command
	}
	return fmt.Sprintf(`%s ran at %s under the kernel's rules alone. accessc saw no refusal of it, only how it ended.
To see each, run it again, slower:
  %s
To have rules written as well that permit what it was refused, hosts included:
  %s
`, k.Tool, k.Begun, again, learn)
}

// Listed is the run and its refusals.
func (d Document) Listed() string {
	var b strings.Builder
	b.WriteString(d.ended())
	var shown []int
	for i, e := range d.Denials {
		if e.Probe == "" {
			shown = append(shown, i)
		}
	}
	slices.SortStableFunc(shown, func(a, b int) int { return before(d.Denials[a].Sensitive, d.Denials[b].Sensitive) })
	b.WriteString(d.entries(shown))
	return b.String()
}

// before sorts the first of two before the second if it alone has a property.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// ordered are the proposals as a person reads them: sensitive places first, then the changes that would permit
// something, and each reason for proposing nothing once, with all that it is about.
func (d Document) ordered() []Proposal {
	rank := func(p Proposal) int {
		switch {
		case slices.ContainsFunc(p.Denials, func(i int) bool { return d.Denials[i].Sensitive }):
			return 0
		case len(p.Denials) == 0:
			return 3
		case p.WhyNot == "":
			return 1
		}
		return 2
	}
	var out []Proposal
	for _, p := range d.Proposals {
		same := func(o Proposal) bool { return p.WhyNot != "" && o.WhyNot == p.WhyNot }
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].Denials = slices.Concat(out[i].Denials, p.Denials)
			continue
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b Proposal) int { return rank(a) - rank(b) })
	return out
}

// fewLines is how many refusals alike in one directory have a line each.
const fewLines = 3

// entries are lines for some refusals: one for all that are alike in a directory.
func (d Document) entries(of []int) string {
	alike := map[string][]denial.Entry{}
	key := func(e denial.Entry) string {
		if e.Sensitive || e.To != "" || !strings.Contains(e.Target, "/") || e.Operation == "connect" {
			return ""
		}
		return e.Operation + "\x00" + path.Dir(e.Target) + "\x00" + e.Reason
	}
	for _, i := range of {
		alike[key(d.Denials[i])] = append(alike[key(d.Denials[i])], d.Denials[i])
	}
	var b strings.Builder
	said := map[string]bool{}
	for _, i := range of {
		e, k := d.Denials[i], key(d.Denials[i])
		switch all := alike[k]; {
		case k == "" || len(all) <= fewLines:
			b.WriteString(entryLine(e))
		case !said[k]:
			said[k] = true
			e.Target, e.Times = path.Join(path.Dir(e.Target), "*"), 0
			for _, o := range all {
				e.Times += o.Times
			}
			b.WriteString(entryLine(e))
		}
	}
	return b.String()
}

// probes are the refused operations that programs do without, by purpose.
func (d Document) probes() string {
	var b strings.Builder
	said := map[string]bool{}
	for i, e := range d.Denials {
		if e.Probe == "" || said[e.Probe] {
			continue
		}
		said[e.Probe] = true
		for _, o := range d.Denials[i:] {
			if o.Probe == e.Probe {
				b.WriteString(entryLine(o))
			}
		}
		b.WriteString("    " + visible.Line(e.Probe) + "\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("\nprobes, which programs do without, refused %s:\n",
		plural.Count(d.Probes, "time")) + b.String()
}

// ended is the run in a line.
func (d Document) ended() string {
	s := fmt.Sprintf("%s ended with status %d at %s", d.Tool, d.Status, d.Ended)
	switch n := d.Total - d.Probes; {
	case d.Total == 0:
		return s + ": accessc saw no refusal\n"
	case n == 0:
		return s + ": accessc saw no refusal but those of probes\n"
	case n == 1:
		s += " and was refused once"
	default:
		s += fmt.Sprintf(" and was refused %d times", n)
	}
	if d.Risk != "" {
		s += "; its risk is " + d.Risk
	}
	return s + "\n"
}

// Text shows each proposal behind the operations that it is for.
func (d Document) Text() string {
	var b strings.Builder
	if d.Unnamed {
		b.WriteString(
			d.Listed() + "\nNo configuration names this command, so no rule can be about it: give it a tool, [tools.NAME] with\n" +
				"source = \"local\" and command = \"...\"; accessc init writes an example.\n",
		)
	} else {
		b.WriteString(d.ended())
	}
	for _, p := range d.ordered() {
		b.WriteByte('\n')
		if len(p.Denials) == 0 {
			b.WriteString("    " + visible.Text(p.Command) + "\n    runs it once more, sees every refusal, " +
				"names the hosts that it asks for, and writes rules for them\n")
			continue
		}
		b.WriteString(d.entries(p.Denials) + p.text())
	}
	if text := allow.PresetsText(allow.PresetsAbout(d.Denials)); text != "" {
		b.WriteString("\n" + text)
	}
	b.WriteString(d.probes())
	if d.LeftOut > 0 {
		fmt.Fprintf(&b, "\n%d more are not kept; accessc exec --report FILE lists each\n", d.LeftOut)
	}
	if !d.Traced {
		b.WriteString("\nThe kernel may have refused more, which accessc does not see; " +
			"accessc exec --trace shows all of it.\n")
	}
	return b.String()
}

func entryLine(e denial.Entry) string {
	what := e.Target
	if e.To != "" {
		what += " to " + e.To
	}
	if e.Times > 1 {
		what += fmt.Sprintf(" ×%d", e.Times)
	}
	line := strings.TrimRight(fmt.Sprintf("%-7s %s", e.Operation, visible.Line(what)), " ")
	return line + "  " + visible.Line(e.Reason) + "\n"
}

func (p Proposal) text() string {
	var b strings.Builder
	switch {
	case p.Permitted:
		return "    permitted by now\n"
	case p.Command == "":
		return "    nothing is proposed: " + visible.Line(p.WhyNot) + "\n"
	}
	fmt.Fprintf(&b, "    %s\n", visible.Text(p.Command))
	if len(p.Approve) > 0 {
		fmt.Fprintf(&b, "    %s\n", visible.Text(allow.ApproveCommand(p.Approve)))
	}
	if p.File == "" {
		return b.String()
	}
	switch {
	case p.Replaces == 0:
		fmt.Fprintf(&b, "    or by hand, %s, from line %d:\n", visible.Text(p.File), p.Line)
	case p.Replaces == 1:
		fmt.Fprintf(&b, "    or by hand, %s, in place of line %d:\n", visible.Text(p.File), p.Line)
	default:
		fmt.Fprintf(&b, "    or by hand, %s, in place of lines %d to %d:\n", visible.Text(p.File), p.Line,
			p.Line+p.Replaces-1)
	}
	for i, l := range p.Lines {
		if i > 0 || l != "" {
			b.WriteString("        " + l + "\n")
		}
	}
	for line := range strings.Lines(p.Reach.Text()) {
		b.WriteString("  " + line)
	}
	return b.String()
}
