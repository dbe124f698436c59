package suite

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// Names are components that some pattern language reads as something else, besides those of irtest.
var Names = slices.Concat(irtest.Names, []string{"*", "**", "a*", "[ab]", "x?", "{a,b}", `b\c`, "!a", "#x", "~", "-r",
	"a:b", "a,b"})

// A Case is a policy with its settings on a host.
type Case struct {
	Tool   *ir.Tool
	Bind   ir.Bindings
	View   *ir.View
	Output backends.Output
	Model  foreign.Policy
	Never  ir.CapSet // given nowhere beyond the policy, whatever the ledger says
}

// Hosts draws where the workspace and the home directory lie: beside the base, in it, and in each
// other.
func Hosts(t *rapid.T, tool *ir.Tool) ir.Bindings {
	b := ir.Bindings{
		Workspace: rapid.SampledFrom([]string{"/w s", "/opt/w", "/home/u/w"}).Draw(t, "workspace"),
		Home:      rapid.SampledFrom([]string{"/state/home", "/home/u/.state", "/w s/ab/home"}).Draw(t, "home"),
	}
	if tool.Home != ir.HomePrivate {
		b.Home = ""
	}
	irtest.Bind(&b, tool, "/home/u")
	return b
}

// Draw draws a tool's files.
func Draw(t *rapid.T) *ir.Tool {
	names := irtest.Plain
	if rapid.Bool().Draw(t, "odd names") {
		names = Names
	}
	tool := irtest.ToolByName(t, names, 6)
	tool.Base = rapid.SampledFrom([]ir.BaseName{ir.BaseSystem, ir.BaseNone}).Draw(t, "base")
	tool.Home = rapid.SampledFrom([]ir.HomeKind{ir.HomePrivate, ir.HomeReal}).Draw(t, "kind of home")
	return tool
}

// Commands draws a list of some programs, with arguments of some words.
func Commands(t *rapid.T, programs, words []string) *ir.CommandSet {
	out := &ir.CommandSet{}
	for _, name := range programs {
		if !rapid.Bool().Draw(t, name) {
			continue
		}
		r := ir.CommandRule{Program: name, AnyArgs: rapid.Bool().Draw(t, "any"), AllEnvs: true}
		for range rapid.IntRange(0, 2).Draw(t, "args") {
			r.AnyArgs = false
			r.Args = append(r.Args, ir.ArgPattern{
				Words: rapid.SliceOfN(rapid.SampledFrom(words), 0, 3).Draw(t, "words"),
				Rest:  rapid.Bool().Draw(t, "rest"),
			})
		}
		out.Rules = append(out.Rules, r)
	}
	return out
}

// place draws a place: at a rule, below one, or anywhere.
func (c *Case) place(t *rapid.T) ir.Location {
	switch rapid.IntRange(0, 5).Draw(t, "kind of place") {
	case 0:
		return ir.Sys(rapid.SampledFrom([]string{"usr/bin/x", "etc/passwd", "etc/shadow", "opt/x", "srv", "home/v",
			"bin", "etc/ssl/x"}).Draw(t, "system"))
	case 1, 2:
		if len(c.Tool.FS) > 0 {
			at := rapid.SampledFrom(c.Tool.FS).Draw(t, "rule").At
			return at.Child(irtest.Path(t, irtest.Plain, 1))
		}
	}
	return irtest.Place(t, Names)
}

// Files asks the policy and the evaluation about a place, and fails on a difference that no row of
// the ledger states. seen counts the kinds of answers.
func (c *Case) Files(t *rapid.T, seen map[string]int) {
	abs, ok := c.Bind.Path(c.place(t))
	abs = strings.TrimSuffix(abs, "/")
	at := c.Bind.Locate(abs)
	if !ok || abs == "" {
		return
	}
	for _, capability := range ir.Capabilities {
		v := c.View.Decide(ir.Access{Cap: capability, On: ir.Direct(at)})
		if v.Reason != ir.ReasonRule && v.Reason != ir.ReasonDefault {
			continue // a root or a pin
		}
		does := c.permits(capability, abs)
		if does && !v.Allowed() && c.Never.Has(capability) {
			t.Fatalf("%s %s: the policy says no, the settings yes\nrules %+v\n%s", capability, abs, c.Tool.FS,
				c.Output.Data)
		}
		c.check(t, seen, fmt.Sprintf("%s %s", capability, abs), ir.FS, c.rule(v), ir.AspectOf(capability), v.Allowed(),
			does)
	}
}

// permits asks the evaluation: most programs start the files that may be read, and know writing alone.
func (c *Case) permits(capability ir.Capability, abs string) bool {
	if m, ok := c.Model.(interface {
		Permits(operation, path string) bool
	}); ok {
		return m.Permits(capability.String(), abs)
	}
	if capability == ir.Read || capability == ir.Execute {
		return c.Model.Reads(abs)
	}
	return c.Model.Writes(abs)
}

func (c *Case) rule(v ir.Verdict) ir.RuleID {
	for _, e := range c.View.Entries() {
		if v.Rule == ir.Rule(e.Rule) {
			return e.ID.Stated()
		}
	}
	return ir.DefaultRule
}

// reporter is a test, or a run of a property.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// check fails on a difference between two answers that no row states.
func (c *Case) check(t reporter, seen map[string]int, what string, of ir.Resource, rule ir.RuleID, a ir.Aspect, should,
	does bool) {
	t.Helper()
	row, ok := c.Output.Elsewhere.Cell(of, rule, a, 0, 0)
	seen[fmt.Sprintf("%s %v %v %s", of, should, does, row.Is)]++
	wider := row.Is == ir.Weaker || row.Is == ir.Unenforced || row.Is == ir.Advisory
	joined := len(row.Causes) > 1 // of the weakest statement, and of others
	narrower := row.Is == ir.Stricter || joined && (wider || row.Is == ir.Assumed)
	if !ok || does && !should && !wider || should && !does && !narrower {
		t.Errorf("%s (%s %s): the policy says %v, the settings %v, the row %+v\nrules %+v\n%s", what, rule, a, should,
			does, row, c.Tool.FS, c.Output.Data)
	}
}

// Connections asks both about a connection or a listener.
func (c *Case) Connections(t *rapid.T, seen map[string]int) {
	op := irtest.NetOp(t, c.Tool.Net)
	v := c.View.Decide(op)
	rule, aspect := irtest.NetCell(c.Tool.Net, op, v)
	to, connects := op.(ir.Connect)
	if !connects {
		c.check(t, seen, fmt.Sprintf("%+v", op), ir.Net, rule, aspect, v.Allowed(), false)
		return
	}
	host := to.To.Host.Name
	if to.To.Host.Kind == ir.HostAddr {
		host = to.To.Host.Addr.String()
	}
	c.check(t, seen, fmt.Sprintf("%+v", op), ir.Net, rule, aspect, v.Allowed(), c.Model.Connects(host, to.To.Port))
}

// Variables asks both about the variables that rules name.
func (c *Case) Variables(t *rapid.T, seen map[string]int, names ...string) {
	view := ir.NewEnvView(c.Tool.Env, c.Tool.Home, ir.Linux)
	for _, name := range names {
		v := view.Decide(ir.Forward{Name: name})
		rule := ir.DefaultRule
		for i := range c.Tool.Env {
			if v.Rule == ir.Rule(&c.Tool.Env[i]) {
				rule = ir.EnvRuleID(i)
			}
		}
		c.check(t, seen, name, ir.Env, rule, ir.AspectForward, v.Allowed(), c.Model.Passes(name))
	}
}

// Whole fails unless the ledger states every cell once, with a cause where it is not exact.
func (c *Case) Whole(t *rapid.T, why func([]ir.Cause) string) {
	for _, cell := range c.View.Cells() {
		n := 0
		for _, row := range c.Output.Elsewhere {
			if row.Resource == cell.Resource && slices.Contains(row.Rules, cell.ID) &&
				slices.Contains(row.Aspects, cell.Aspect) {
				n++
				said := why(row.Causes)
				if row.Is == ir.Unstated || row.Is != ir.Exact && said == "" {
					t.Fatalf("%s %s: %+v", cell.ID, cell.Aspect, row)
				}
				for _, cause := range row.Causes {
					if strings.Contains(said, cause.String()) {
						t.Fatalf("%s has no sentence", cause)
					}
				}
			}
		}
		if n != 1 {
			t.Fatalf("%s %s has %d rows", cell.ID, cell.Aspect, n)
		}
	}
}

// Open returns the rules that let everything be read and written in their place, of some: a policy of them has no
// exception.
func Open(rules []ir.FSRule) []ir.FSRule {
	return slices.DeleteFunc(slices.Clone(rules),
		func(r ir.FSRule) bool { return !r.Caps.Contains(ir.Write.With(ir.Read)) })
}
