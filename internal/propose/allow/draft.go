package allow

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/edit"
	"github.com/accessc/accessc/compiler/presets"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/ir"
)

// draft is a plan in the making.
type draft struct {
	Bounds
	layer *layer
	// tool is the policy with the rules so far.
	tool ir.Tool
	// adds are the additions, ask is the index of the operation that they are looked for.
	adds []*addition
	ask  int
	// planned maps the paths of external rules to their targets.
	planned map[string]string
}

// addition is one rule to be written, of which one field is set.
type addition struct {
	fs      *ir.FSRule
	net     edit.Item
	env     string
	program *edit.Field
	// late asks for a supervisor.
	late bool
	// extends are presets, places where their rules lead, beyond their variables in words.
	extends, places, beyond []string
	// args are the lists of arguments of the program.
	args []string
	// asks are the indices of the operations that it is for, notes the comments above it.
	asks  []int
	notes []string
	// idle is true where the layer has the rule by now.
	idle bool
}

// plan adds a rule.
func (d *draft) plan(a addition) {
	a.asks = []int{d.ask}
	d.adds = append(d.adds, &a)
}

// paths adds a rule on files, or gives the one on its path its capabilities.
func (d *draft) paths(r ir.FSRule) {
	for _, a := range d.adds {
		if a.fs != nil && a.fs.At == r.At {
			a.fs.Caps |= r.Caps
			a.asks = append(a.asks, d.ask)
			return
		}
	}
	d.plan(addition{fs: &r})
}

// view is the policy with the rules so far.
func (d *draft) view() *ir.View {
	facts := d.Now.Facts(d.Tool)
	return ir.NewView(&d.tool, hostfacts.Platform(), facts)
}

// add finds the rules for one operation.
func (d *draft) add(a Ask) error {
	v := d.view()
	if a.Allowed(v) {
		return nil
	}
	if why := d.foreign(a); why != "" {
		return refuse("%s", why)
	}
	switch {
	case a.external != nil:
		d.external(a)
		return nil
	case a.extends != "":
		d.extend(a.extends)
		return nil
	}
	switch op := a.Operation.(type) {
	case ir.Forward:
		d.plan(addition{env: op.Name})
		d.tool.Env = append(slices.Clone(d.tool.Env), ir.EnvRule{Name: op.Name, Read: true})
		return nil
	case ir.Run:
		return d.run(op, a.denied(v))
	case ir.Connect, ir.Listen:
		fields, ok := (&denial.Denial{Operation: a.withoutPort(), View: v}).NetRule()
		if !ok {
			return stillDenied(a, a.denied(v))
		}
		var item edit.Item
		for _, f := range fields {
			item = append(item, edit.Field{Key: f[0], Value: f[1]})
		}
		d.net(item)
		return nil
	default:
		return d.files(a, v)
	}
}

// net adds a rule about a host, once.
func (d *draft) net(item edit.Item) {
	for _, a := range d.adds {
		if a.net != nil && a.net.String() == item.String() {
			a.asks = append(a.asks, d.ask)
			return
		}
	}
	d.plan(addition{net: item})
}

// files finds the rules on files.
func (d *draft) files(a Ask, v *ir.View) error {
	if denied := a.denied(v); denied.Reason == ir.ReasonLoop || denied.Reason == ir.ReasonAbsolute ||
		denied.Reason == ir.ReasonOutside {
		return stillDenied(a, denied)
	}
	for _, place := range ir.Describe(a.Operation).Places {
		if err := d.guard(place.At); err != nil {
			return err
		}
	}
	var rules []ir.FSRule
	if a.At != nil {
		if err := d.guard(*a.At); err != nil {
			return err
		}
		caps := a.Needs
		for _, c := range ir.Capabilities {
			if v.Decide(ir.Access{Cap: c, On: ir.Direct(*a.At)}).Allowed() {
				caps = caps.With(c)
			}
		}
		rules = []ir.FSRule{{At: *a.At, Caps: caps}}
	} else {
		var ok bool
		refused := &denial.Denial{Operation: a.Operation, Wants: a.Needs, View: v, Roots: d.asker.Bindings}
		if rules, ok = refused.Rules(); !ok {
			return stillDenied(a, a.denied(v))
		}
	}
	for _, r := range rules {
		if err := cmp.Or(d.guard(r.At), d.leads(r)); err != nil {
			return err
		}
		d.paths(r)
		d.tool.FS = append(slices.Clone(d.tool.FS), r)
	}
	return nil
}

// external adds the external rule.
func (d *draft) external(a Ask) {
	d.planned[a.external.name] = a.external.target
	at := ir.Location{Root: ir.Root{Kind: ir.External, Name: a.external.name}}
	d.paths(ir.FSRule{At: at, External: true, Caps: a.external.caps})
}

// extend adds a preset.
func (d *draft) extend(name string) {
	i := slices.IndexFunc(d.adds, func(a *addition) bool { return a.extends != nil })
	if i < 0 {
		d.plan(addition{})
		i = len(d.adds) - 1
	}
	a := d.adds[i]
	if !slices.Contains(a.asks, d.ask) {
		a.asks = append(a.asks, d.ask)
	}
	if slices.Contains(a.extends, name) {
		return
	}
	a.extends = append(a.extends, name)
	x, _ := presets.Find(name)
	for _, r := range d.places(x) {
		if d.asker.Bindings.External[r.name] == "" {
			d.planned[r.name] = r.target
		}
		a.places = append(a.places, filepath.ToSlash(r.target))
	}
	if env := x.Rules.Get("env"); env != nil {
		for _, r := range env.Array {
			if s := "the variable " + r.Table.Get("name").Text; !slices.Contains(a.beyond, s) {
				a.beyond = append(a.beyond, s)
			}
		}
	}
}

// run finds the entry in the table of programs. A program without arguments may be started with
// any; one that has some may be started with these.
func (d *draft) run(op ir.Run, denied *ir.Verdict) error {
	name := op.Program
	if base := path.Base(name); strings.Contains(name, "/") {
		if abs, ok := d.asker.Lookup(base); ok && op.File != nil && d.same(abs, *op.File) {
			name = base
		} else if op.File != nil && op.File.At.Root.Kind == ir.Workspace {
			name = op.File.At.Path
		}
	}
	if denied.Reason != ir.ReasonCommand && denied.Reason != ir.ReasonArgs {
		return stillDenied(Ask{Operation: op}, denied)
	}
	if len(op.Args) == 0 {
		d.program(name, nil, "")
		return nil
	}
	var lists []string
	if r, ok := denied.Rule.(*ir.CommandRule); ok && denied.Reason == ir.ReasonArgs {
		if !r.AllEnvs {
			return fmt.Errorf("%s: its rule names variables; change it where it stands, %s", name, r.Origin)
		}
		for _, p := range r.Args {
			words := slices.Clone(p.Words)
			if p.Rest {
				words = append(words, "**")
			}
			lists = append(lists, array(words))
		}
		name = r.Program
	}
	d.program(name, lists, array(op.Args))
	return nil
}

// program adds a program with a further list of arguments to those that its rule has; none is any.
func (d *draft) program(name string, has []string, list string) {
	i := slices.IndexFunc(d.adds, func(a *addition) bool { return a.program != nil && a.program.Key == name })
	if i < 0 {
		d.plan(addition{program: &edit.Field{Key: name}, args: has})
		i = len(d.adds) - 1
	} else {
		d.adds[i].asks = append(d.adds[i].asks, d.ask)
	}
	a := d.adds[i]
	switch {
	case list == "" || a.program.Value == "{}":
		a.program.Value = "{}"
		return
	case !slices.Contains(a.args, list):
		a.args = append(a.args, list)
	}
	a.program.Value = "{ args = [" + strings.Join(a.args, ", ") + "] }"
}

func (d *draft) same(abs string, file ir.Place) bool {
	found, err := d.Now.Resolver.Disk.Follow(abs)
	return err == nil && d.asker.Bindings.Locate(found.Abs) == file.At
}

// supervise asks for a supervisor, unless the layer has decided about that.
func (d *draft) supervise() {
	if d.layer.setting(d.Tool, late.Key) == nil {
		d.adds = append(d.adds, &addition{late: true})
	}
}

// words are the rule in words.
func (a *addition) words() string {
	switch {
	case a.fs != nil:
		return "fs: " + a.fs.At.Short() + ": " + a.fs.Caps.String()
	case a.net != nil:
		return "net: " + a.net.String()
	case a.program != nil:
		return "run " + a.program.Key + " = " + a.program.Value
	case a.extends != nil:
		return a.list().Key + " = " + a.list().Value
	case a.late:
		return late.Key + " = " + late.Value
	default:
		return "env: " + a.env
	}
}

// presets are those of an addition, as a policy names them.
func (a *addition) presets() (names []string) {
	for _, name := range a.extends {
		names = append(names, source.Preset+name)
	}
	return names
}

// list is the same as TOML.
func (a *addition) list() edit.Field { return edit.Field{Key: "extends", Value: array(a.presets())} }
