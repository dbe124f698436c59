package compare

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// words is a cell of argument lists: a list, or every list that begins with it and
// goes on in a way that no rule names.
type words struct {
	args []string
	open bool
	// next is a word that no rule names behind args.
	next string
}

type wordTree = tree[words, int]

// commands compares which programs may be started with which arguments, and with
// which variables.
func (c *comparison) commands() []Difference {
	if c.old.Tool.Commands == nil && c.new.Tool.Commands == nil {
		return nil
	}
	programs := c.programs()
	names := make([]string, 0, len(programs))
	for _, r := range programs {
		names = append(names, r.Program)
	}
	other := unlisted(names)
	out := []Difference{}
	if old, new, differs := c.ask(ir.Run{Program: other}); differs {
		out = append(out, Difference{
			Resource: ir.Commands, Wider: new.Allowed(), What: "run", Where: "any program", Except: names,
			Example: spell("run", other), Old: side(old), New: side(new),
		})
	}
	for i := range programs {
		out = append(out, c.program(&programs[i])...)
		out = append(out, c.variables(programs[i].Program)...)
	}
	return out
}

// unlisted is a program that no rule names and that a reader is likely to have.
func unlisted(names []string) string {
	for _, name := range []string{"ls", "cat", "cp", "rm", "id"} {
		if !slices.Contains(names, name) {
			return name
		}
	}
	return fresh("other", names)
}

// start asks for a program. The place of a program in the workspace is known.
func start(program string, args []string) ir.Run {
	op := ir.Run{Program: program, Args: args}
	if at, ok := fileOf(program); ok {
		op.File = &ir.Place{At: at}
	}
	return op
}

// fileOf returns the place of a program that is listed by a path.
func fileOf(program string) (ir.Location, bool) {
	return ir.In(path.Clean(program)), strings.Contains(program, "/") && !path.IsAbs(program)
}

// programs are the rules of either side, one of each name.
func (c *comparison) programs() []ir.CommandRule {
	var out []ir.CommandRule
	for _, v := range []*ir.View{c.old, c.new} {
		for _, r := range v.Programs() {
			if !slices.ContainsFunc(out, func(o ir.CommandRule) bool { return o.Program == r.Program }) {
				out = append(out, *r)
			}
		}
	}
	slices.SortFunc(out, func(a, b ir.CommandRule) int { return strings.Compare(a.Program, b.Program) })
	return out
}

// judge returns the direction in which a cell of argument lists differs.
func (c *comparison) judge(r *ir.CommandRule, w words) int {
	_, new, differs := c.ask(start(r.Program, w.sample()))
	if !differs {
		return 0
	}
	return 2*btoi(new.Allowed()) - 1
}

func (w words) sample() []string {
	if w.open {
		return append(slices.Clone(w.args), w.next)
	}
	return w.args
}

// program compares the argument lists of a program.
func (c *comparison) program(r *ir.CommandRule) []Difference {
	var out []Difference
	for _, reg := range c.argumentLists(r).regions() {
		old, new, _ := c.ask(start(r.Program, reg.item.sample()))
		d := Difference{
			Resource: ir.Commands, Wider: reg.label > 0, What: "run", Where: reg.item.text(r.Program),
			Example: spell(append([]string{"run", r.Program}, reg.item.sample()...)...), Old: side(old), New: side(new),
		}
		for _, e := range reg.except {
			d.Except = append(d.Except, e.text(r.Program))
		}
		out = append(out, d)
	}
	return out
}

// argumentLists is the partition of a program's argument lists: the tree of all words
// that patterns name; at each there is the list that ends there, and those that go on
// otherwise.
func (c *comparison) argumentLists(r *ir.CommandRule) *wordTree {
	root := &wordTree{item: words{open: true}}
	for _, t := range []*ir.Tool{c.old.Tool, c.new.Tool} {
		if t.Commands == nil {
			continue
		}
		for _, o := range t.Commands.Rules {
			if o.Program != r.Program {
				continue
			}
			for _, p := range o.Args {
				grow(root, p.Words)
			}
		}
	}
	c.weigh(r, root)
	return root
}

func (w words) text(program string) string {
	out := strings.Join(append([]string{program}, w.args...), " ")
	if w.open {
		out += " …"
	}
	return out
}

func grow(t *wordTree, path []string) {
	for i := range path {
		j := slices.IndexFunc(t.below, func(b *wordTree) bool { return b.item.args[i] == path[i] })
		if j < 0 {
			t.below = append(t.below, &wordTree{item: words{args: path[:i+1], open: true}})
			j = len(t.below) - 1
		}
		t = t.below[j]
	}
}

// weigh labels a tree, and gives each node the list that ends there as a leaf.
func (c *comparison) weigh(r *ir.CommandRule, t *wordTree) {
	var named []string
	for _, b := range t.below {
		named = append(named, b.item.args[len(b.item.args)-1])
	}
	t.item.next = fresh("x", named)
	t.label = c.judge(r, t.item)
	for _, b := range t.below {
		c.weigh(r, b)
	}
	ends := words{args: t.item.args}
	t.below = append([]*wordTree{{item: ends, label: c.judge(r, ends)}}, t.below...)
}

// variables compares the tool's variables that a program gets.
func (c *comparison) variables(program string) []Difference {
	a, b := ruleOf(c.old, program), ruleOf(c.new, program)
	if a == nil || b == nil {
		return nil // a side that does not start the program gives it no variables
	}
	var out []Difference
	add := func(wider bool, where string, except []string) {
		out = append(out, Difference{
			Resource: ir.Commands, Wider: wider, What: "hand to " + program, Where: where, Except: except,
			Old: Side{Rule: rule(a), Reason: ir.ReasonRule}, New: Side{Rule: rule(b), Reason: ir.ReasonRule},
		})
	}
	if a.AllEnvs != b.AllEnvs {
		add(b.AllEnvs, "all variables", union(a.Envs, b.Envs))
		return out
	}
	for _, name := range union(a.Envs, b.Envs) {
		was, is := slices.Contains(a.Envs, name), slices.Contains(b.Envs, name)
		if was != is {
			add(is, name, nil)
		}
	}
	return out
}

func rule(r *ir.CommandRule) ir.Rule {
	if r.Program == "" {
		return nil
	}
	return r
}

// ruleOf is the rule of a program, a rule that allows everything where there is no table,
// nil where the table lacks it.
func ruleOf(v *ir.View, program string) *ir.CommandRule {
	if v.Tool.Commands == nil {
		return &ir.CommandRule{AnyArgs: true, AllEnvs: true}
	}
	for _, r := range v.Programs() {
		if r.Program == program {
			return r
		}
	}
	return nil
}
