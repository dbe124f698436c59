package play

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/shellword/split"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// ledger is that of a tool on all systems, with the calls that a supervisor sees on Linux.
func ledger(t *ir.Tool) (out ir.Ledger, traps []landlock.Trap, err error) {
	for _, b := range registry.All {
		o, err := b.Compile(t, backends.Target{Form: backends.Portable})
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", b.Name(), err)
		}
		out = append(out, o.Ledger...)
		if b.Name() != (landlock.Backend{}).Name() || o.Data == nil {
			continue
		}
		spec, err := landlock.Parse(o.Data)
		if err != nil {
			return nil, nil, err
		}
		if spec.Supervision != nil {
			traps = spec.Supervision.Traps
		}
	}
	return out, traps, nil
}

// explain is what the command of this name prints: the tool, or a table of all, the policy of each and the rulesets;
// with why, how each system holds it.
func (p *policy) explain(tool string, why bool) (string, error) {
	tools := p.Program.Tools
	if tool != "" || len(tools) == 0 {
		tools = []*ir.Tool{p.tool(tool)}
	}
	var policies []*explain.Policy
	for _, t := range tools {
		of := &explain.Policy{Tool: t, View: ir.NewView(t, p.on, ir.Facts{})}
		if t.Source.Kind == ir.SourceLocal {
			var err error
			if of.Ledger, of.Traps, err = ledger(t); err != nil {
				return "", err
			}
		}
		policies = append(policies, of)
	}
	return p.print(explain.Groups(policies), len(policies) > 1, tool == "", why), nil
}

// print writes policies one below the other.
func (p *policy) print(groups []*explain.Group, several, sets, why bool) string {
	var b strings.Builder
	if several {
		b.WriteString(explain.IndexText(groups, p.style))
	}
	for _, g := range groups {
		if several && !g.Confined() {
			continue // the table says all of it
		}
		if several {
			b.WriteByte('\n')
		}
		b.WriteString(g.Text(p.style))
		if why && g.Confined() {
			b.WriteString("\n" + g.LedgerText(p.style) + "\n" + g.TrapsText(p.style) + "\n" + g.CellsText(p.style))
		}
	}
	for _, s := range p.Rulesets {
		if sets {
			b.WriteString("\n" + explain.NewRuleset(s).Text(p.style))
		}
	}
	if why {
		b.WriteString("\n" + explain.Legend(p.style))
	}
	return b.String()
}

// judge prepares a tool for questions. External rules lead where they would without symbolic links, as if approved.
func (p *policy) judge(t *ir.Tool) (*explain.Judge, error) {
	bound := &ir.Bindings{Workspace: Root, External: map[string]string{}}
	for i := range t.FS {
		name := t.FS[i].At.Root.Name
		if !t.FS[i].External {
			continue
		}
		if found, err := p.Resolver.Rule(name); err == nil && !found.Inside && found.Direct {
			bound.External[name] = found.Abs
		}
	}
	rows, _, err := ledger(t)
	asker := resolve.Asker{Resolver: p.Resolver, Bindings: bound, Named: true}
	return explain.NewJudge(t, p.on, ir.Facts{Bindings: bound}, asker, rows), err
}

// ask is what can prints.
func (p *policy) ask(r *Request, out *Reply) error {
	words, err := split.Words(r.Ask)
	if err != nil {
		return err
	}
	q, err := resolve.ParseQuestion(words)
	if err != nil {
		return err
	}
	j, err := p.judge(p.tool(r.Tool))
	if err != nil {
		return err
	}
	a, err := j.Answer(q, false)
	if err != nil {
		return err
	}
	allowed := a.Verdict.Allowed()
	out.Allowed, out.Text = &allowed, a.Text(p.style, true, p.on)
	return nil
}

// tests asks the policy's own tests.
func (p *policy) tests() (string, error) {
	var b strings.Builder
	for _, t := range p.Program.Tools {
		if len(t.Tests) == 0 {
			continue
		}
		j, err := p.judge(t)
		if err != nil {
			return "", err
		}
		var xs []explain.Tested
		failed := ""
		for _, a := range t.Tests {
			x := explain.Tested{Assertion: a}
			words, err := split.Words(a.Question)
			if err != nil {
				return "", err
			}
			q, err := resolve.ParseQuestion(words)
			if err != nil {
				return "", err
			}
			if x.Answer, x.Err = j.Answer(q, false); !x.Holds() {
				failed += fmt.Sprintf("  %s  %s\n", a.Question, x.Note(p.style))
			}
			xs = append(xs, x)
		}
		b.WriteString(explain.TestedText(t.Name, xs, p.style) + failed)
	}
	if b.Len() == 0 {
		return "no tool has tests (access.tests)\n", nil
	}
	return b.String(), nil
}

// compare is what explain --diff prints: from the text before to the policy.
func (p *policy) compare(r *Request, out *Reply) error {
	old, err := r.compile(r.Before)
	if err != nil {
		return err
	}
	if old.Program == nil {
		said, err := old.findings()
		out.Text = "the text before has mistakes\n\n" + said
		return err
	}
	sides := [2][]compare.Policy{}
	for i, side := range []*policy{old, p} {
		for _, t := range side.Program.Tools {
			of := compare.Policy{Tool: t}
			if of.Ledger, _, err = ledger(t); err != nil {
				return err
			}
			sides[i] = append(sides[i], of)
		}
	}
	found := append(explain.Changes(sides[0], sides[1]), explain.RulesetChanges(old.Rulesets, p.Rulesets)...)
	out.Text, out.Wider = explain.ChangesText(found, p.style), explain.Widened(found)
	return nil
}

// natives are the backends of the systems.
var natives = map[ir.Platform]string{ir.Linux: "landlock", ir.Darwin: "seatbelt", ir.Windows: "winjob"}

// artifact is a file that build writes.
func (p *policy) artifact(r *Request, out *Reply) error {
	name := r.Target
	if name == "" {
		name = natives[p.on]
	}
	all := slices.Concat(registry.All, registry.Optional)
	i := slices.IndexFunc(all, func(b backends.Backend) bool { return b.Name() == name })
	if i < 0 {
		return fmt.Errorf("found target %q, expected one of %s", name, strings.Join(targets(), ", "))
	}
	o, err := all[i].Compile(p.tool(r.Tool), backends.Target{Form: backends.Portable})
	if err != nil {
		return err
	}
	out.File, out.Text = all[i].File(), string(o.Data)
	for _, refused := range o.Refusals {
		out.Text += "refused: " + refused.Why + "\n"
	}
	return nil
}
