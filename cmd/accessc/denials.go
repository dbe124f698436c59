package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// denialsCmd is "accessc denials".
type denialsCmd struct {
	Layer  string `enum:"local,workspace,user" default:"local" help:"The layer that the rules would go to: local, workspace or user."`
	Format string `enum:"text,json" default:"text" help:"Output format: text or json."`
	Tool   string `arg:"" optional:"" name:"tool" help:"The tool; the one that ran last by default."`
}

// Help implements kong's detailed help.
func (denialsCmd) Help() string {
	return `Shows the operations that the last run of a tool was refused, each with the rule that decided, and what would permit
it: the command, and the lines in the spelling of the file that it would write. One rule is proposed for a directory
that was listed, or in which three files or made-up names were refused. Nothing is proposed for sensitive
and protected paths, for roots such as your home, and for sockets and programs that have others act.

  accessc denials           of the tool that ran last in this workspace
  accessc denials edit      of edit

Only a supervisor sees refusals: of a tool that needs none nothing is kept. accessc exec --trace TOOL starts any
tool under one.`
}

// denialsDoc is the list for programs.
type denialsDoc struct {
	denial.Kept
	Proposals []proposalDoc `json:"proposals"`
}

// proposalDoc is a proposal for the denials of some indices. Without a command there is a reason,
// or the present policy permits them.
type proposalDoc struct {
	Denials   []int        `json:"denials"`
	Permitted bool         `json:"permitted"`
	Command   string       `json:"command,omitempty"`
	File      string       `json:"file,omitempty"`
	Line      int          `json:"line,omitempty"`
	Replaces  int          `json:"replaces,omitempty"`
	Lines     []string     `json:"lines,omitempty"`
	Approve   []string     `json:"approve,omitempty"`
	Reach     *allow.Reach `json:"reach,omitempty"`
	WhyNot    string       `json:"why_not,omitempty"`
}

// Run implements the command.
func (c *denialsCmd) Run(g *globals) error {
	k, err := c.kept(g)
	if err != nil || k == nil {
		return err
	}
	doc := denialsDoc{Kept: *k, Proposals: []proposalDoc{}}
	if k.Unwatched && c.Format == "text" {
		fmt.Fprint(g.stderr, visible.Lines(unwatchedText(k)))
		return nil
	}
	if !k.Unnamed && !k.Unwatched {
		layer, _ := ir.ParseLayer(c.Layer)
		p, err := g.planner(allow.Request{Layer: layer, Tool: k.Tool})
		if errors.Is(err, allow.ErrNoTool) && c.Format == "text" {
			fmt.Fprint(g.stdout, visible.Lines(doc.listed()))
			fmt.Fprintf(g.stderr, "nothing is proposed: %s ran under the default policy; rules would stand in a table of its own, such as [servers.%s] of an MCP server\n",
				visible.Text(k.Tool), visible.Text(tomltext.Key(k.Tool)))
			return nil
		}
		if err != nil {
			fmt.Fprint(g.stdout, visible.Lines(doc.listed()))
			return err
		}
		for _, x := range p.Propose(k.Denials) {
			doc.Proposals = append(doc.Proposals, proposalOf(x))
		}
	}
	if doc.learns() && doc.learnCommand() != "" {
		doc.Proposals = append(doc.Proposals, proposalDoc{Denials: []int{}, Command: doc.learnCommand()})
	}
	if c.Format == "json" {
		return g.writeJSON(doc)
	}
	_, err = fmt.Fprint(g.stdout, visible.Lines(doc.text()))
	return err
}

// kept reads the refusals of a run; nil where none are kept.
func (c *denialsCmd) kept(g *globals) (*denial.Kept, error) {
	state, err := g.state()
	if err != nil {
		return nil, err
	}
	file := latest(filepath.Dir(state.Denials("")))
	if c.Tool != "" {
		// The name of no tool leads elsewhere.
		file = state.Denials(filepath.Base(c.Tool))
	}
	f, err := os.Open(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, c.nothing(g)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := bounded.Read(f, denial.MaxKept<<1)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var k denial.Kept
	if err := json.Unmarshal(text, &k); err != nil || k.Format != denial.KeptFormat || k.Version != denial.KeptVersion {
		return nil, fmt.Errorf("%s is not of this version of accessc; the next run replaces it", file)
	}
	return &k, nil
}

// latest is the newest file of a directory, empty for none.
func latest(dir string) string {
	entries, _ := os.ReadDir(dir)
	out, at := "", time.Time{}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && filepath.Ext(e.Name()) == ".json" && info.ModTime().After(at) {
			out, at = filepath.Join(dir, e.Name()), info.ModTime()
		}
	}
	return out
}

// unwatchedText describes a run that no supervisor has seen, and the start under which one would.
func unwatchedText(k *denial.Kept) string {
	again, learn := "accessc exec --trace "+k.Tool, "accessc learn --apply "+k.Tool+" -- COMMAND"
	switch command := (denialsDoc{Kept: *k}).learnCommand(); {
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

// learns reports whether a run of accessc learn would tell more: nothing that it was refused is proposed to be
// permitted, and it has failed, as far as that is known.
func (d denialsDoc) learns() bool {
	return start.Observes && !d.Unnamed && (d.Unwatched || d.Status != 0) &&
		!slices.ContainsFunc(d.Proposals, func(p proposalDoc) bool { return p.Command != "" || p.Permitted })
}

// learnCommand is that run, empty where it takes words that are not kept.
func (d denialsDoc) learnCommand() string {
	words := []string{"accessc", "learn", "--apply", "--run", shellword.Quote(d.Tool)}
	switch {
	case d.Unnamed, d.Given && d.GivenCommand == nil:
		return ""
	case d.Given:
		words = []string{"accessc", "learn", "--apply", shellword.Quote(d.Tool), "--"}
		for _, w := range d.GivenCommand {
			words = append(words, shellword.Quote(w))
		}
	}
	return strings.Join(words, " ")
}

// nothing says that no refusals are kept, and by which start they would be.
func (c *denialsCmd) nothing(g *globals) error {
	name := c.Tool
	if name == "" {
		name = "TOOL"
	} else if opts, err := g.asking().options(true, hostfacts.Platform()); err == nil {
		opts.Apart = true
		if res, err := hostfacts.Compile(opts); err == nil && res.Program != nil {
			if _, err := findTool(res.Program, c.Tool); err != nil {
				return err
			}
		}
	}
	if !start.Observes {
		fmt.Fprintln(g.stderr, "no refusals are kept: on this system accessc becomes the tool, and sees nothing of it")
		return nil
	}
	fmt.Fprintf(g.stderr, "no refusals are kept: it has not run here, or not since its state was cleared. accessc exec --trace %s starts it under a supervisor that sees every refusal, slower\n", visible.Line(name))
	return nil
}

func proposalOf(x allow.Proposal) proposalDoc {
	out := proposalDoc{Denials: x.Denials, Permitted: x.Permitted, Command: x.Command, WhyNot: x.WhyNot}
	if x.Plan != nil {
		out.File, out.Reach = x.Plan.Name, &x.Plan.Reach
		out.Approve = slices.Sorted(maps.Keys(x.Plan.Approve))
		out.Line, out.Replaces, out.Lines = x.Plan.Change()
	}
	return out
}

// listed is the run and its refusals.
func (d denialsDoc) listed() string {
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
func (d denialsDoc) ordered() []proposalDoc {
	rank := func(p proposalDoc) int {
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
	var out []proposalDoc
	for _, p := range d.Proposals {
		same := func(o proposalDoc) bool { return p.WhyNot != "" && o.WhyNot == p.WhyNot }
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].Denials = slices.Concat(out[i].Denials, p.Denials)
			continue
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b proposalDoc) int { return rank(a) - rank(b) })
	return out
}

// fewLines is how many refusals alike in one directory have a line each.
const fewLines = 3

// entries are lines for some refusals: one for all that are alike in a directory.
func (d denialsDoc) entries(of []int) string {
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
func (d denialsDoc) probes() string {
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
	return fmt.Sprintf("\nprobes, which programs do without, refused %s:\n", plural.Count(d.Probes, "time")) + b.String()
}

// ended is the run in a line.
func (d denialsDoc) ended() string {
	s := fmt.Sprintf("%s ended with status %d at %s", d.Tool, d.Status, d.Ended)
	switch n := d.Total - d.Probes; {
	case d.Total == 0:
		return s + ": accessc saw no refusal\n"
	case n == 0:
		return s + ": accessc saw no refusal but those of probes\n"
	case n == 1:
		return s + " and was refused once\n"
	default:
		return s + fmt.Sprintf(" and was refused %d times\n", n)
	}
}

// text shows each proposal behind the operations that it is for.
func (d denialsDoc) text() string {
	var b strings.Builder
	if d.Unnamed {
		b.WriteString(d.listed() + "\nNo configuration names this command, so no rule can be about it: give it a tool, [tools.NAME] with\n" +
			"source = \"local\" and command = \"...\"; accessc init writes an example.\n")
	} else {
		b.WriteString(d.ended())
	}
	for _, p := range d.ordered() {
		b.WriteByte('\n')
		if len(p.Denials) == 0 {
			b.WriteString("    " + visible.Text(p.Command) + "\n    runs it once more, sees every refusal, names the hosts that it asks for, and writes rules for them\n")
			continue
		}
		b.WriteString(d.entries(p.Denials) + p.text())
	}
	if text := presetsText(presetsAbout(d.Denials)); text != "" {
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
	return strings.TrimRight(fmt.Sprintf("%-7s %s", e.Operation, visible.Line(what)), " ") + "  " + visible.Line(e.Reason) + "\n"
}

func (p proposalDoc) text() string {
	var b strings.Builder
	switch {
	case p.Permitted:
		return "    permitted by now\n"
	case p.Command == "":
		return "    nothing is proposed: " + visible.Line(p.WhyNot) + "\n"
	}
	fmt.Fprintf(&b, "    %s\n", visible.Text(p.Command))
	if len(p.Approve) > 0 {
		fmt.Fprintf(&b, "    %s\n", visible.Text(approveCommand(p.Approve)))
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
		fmt.Fprintf(&b, "    or by hand, %s, in place of lines %d to %d:\n", visible.Text(p.File), p.Line, p.Line+p.Replaces-1)
	}
	for i, l := range p.Lines {
		if i > 0 || l != "" {
			b.WriteString("        " + l + "\n")
		}
	}
	for line := range strings.Lines(reachText(*p.Reach)) {
		b.WriteString("  " + line)
	}
	return b.String()
}
