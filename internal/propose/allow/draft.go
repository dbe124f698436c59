package allow

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/edit"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// draft is a plan in the making.
type draft struct {
	p    *Planner
	text layerfile.Text
	// tool is the policy with the rules so far.
	tool ir.Tool
	// adds are the additions, ask is the index of the operation that they are looked for.
	adds []*addition
	ask  int
	// planned maps the paths of external rules to their targets.
	planned map[string]string
	// rules are the written rules, in words.
	rules []string
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
	facts := d.p.Now.Facts(d.p.Tool)
	return ir.NewView(&d.tool, hostfacts.Platform(), facts)
}

// add finds the rules for one operation.
func (d *draft) add(a Ask) error {
	v := d.view()
	if a.Allowed(v) {
		return nil
	}
	if why := d.p.foreign(a); why != "" {
		return refuse("%s", why)
	}
	switch {
	case a.external != nil:
		d.outer(a)
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

// withoutPort is the operation without a port that the kernel has chosen: the next run gets another.
func (a Ask) withoutPort() ir.Operation {
	if l, ok := a.Operation.(ir.Listen); ok && a.recorded && chosen(l) {
		l.Port = 0
		return l
	}
	return a.Operation
}

// chosen reports whether a port is of those that the kernel chooses from (ip_local_port_range, as Linux is delivered).
func chosen(op ir.Listen) bool {
	const from, to = 32768, 60999
	return op.Port >= from && op.Port <= to
}

// files finds the rules on files.
func (d *draft) files(a Ask, v *ir.View) error {
	if denied := a.denied(v); denied.Reason == ir.ReasonLoop || denied.Reason == ir.ReasonAbsolute || denied.Reason == ir.ReasonOutside {
		return stillDenied(a, denied)
	}
	for _, place := range ir.Describe(a.Operation).Places {
		if err := d.p.guard(place.At); err != nil {
			return err
		}
	}
	var rules []ir.FSRule
	if a.At != nil {
		if err := d.p.guard(*a.At); err != nil {
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
		refused := &denial.Denial{Operation: a.Operation, Wants: a.Needs, View: v, Roots: d.p.asker.Bindings}
		if rules, ok = refused.Rules(); !ok {
			return stillDenied(a, a.denied(v))
		}
	}
	for _, r := range rules {
		if err := cmp.Or(d.p.guard(r.At), d.p.leads(r)); err != nil {
			return err
		}
		d.paths(r)
		d.tool.FS = append(slices.Clone(d.tool.FS), r)
	}
	return nil
}

// run finds the entry in the table of programs. A program without arguments may be started with
// any; one that has some may be started with these.
func (d *draft) run(op ir.Run, denied *ir.Verdict) error {
	name := op.Program
	if base := path.Base(name); strings.Contains(name, "/") {
		if abs, ok := d.p.asker.Lookup(base); ok && op.File != nil && d.same(abs, *op.File) {
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
	found, err := d.p.Now.Resolver.Disk.Follow(abs)
	return err == nil && d.p.asker.Bindings.Locate(found.Abs) == file.At
}

func array(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = tomltext.String(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// write puts the rules into the text of the layer.
func (d *draft) write() error {
	like := d.p.Tool.Source.Origin.Path
	if !d.p.Tool.Declared.FS && slices.ContainsFunc(d.adds, func(a *addition) bool { return a.fs != nil }) {
		// A list that is declared loses its default.
		for _, r := range ir.DefaultFS() {
			if err := d.file(like, r, nil); err != nil {
				return err
			}
		}
	}
	for _, write := range []func(string, *addition) error{d.writeFS, d.writeNet, d.writeEnv, d.writeProgram, d.writeLate, d.writeExtends} {
		for _, a := range d.adds {
			if err := write(like, a); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *draft) writeFS(like string, a *addition) error {
	if a.fs == nil {
		return nil
	}
	before := len(d.rules)
	err := d.file(like, *a.fs, a.notes)
	a.idle = len(d.rules) == before
	return err
}

func (d *draft) writeNet(like string, a *addition) error {
	if a.net == nil {
		return nil
	}
	return d.append(like, "net", a.net, a.notes)
}

func (d *draft) writeEnv(like string, a *addition) error {
	if a.env == "" {
		return nil
	}
	return d.append(like, "env", edit.Item{edit.String("name", a.env), edit.Bool("read", true)}, a.notes)
}

func (d *draft) writeProgram(like string, a *addition) error {
	if a.program == nil {
		return nil
	}
	at := append(d.text.Tool(d.p.Tool.Name, like), "access", "commands")
	text, err := edit.Set(d.text.Bytes, at, *a.program, a.notes...)
	d.rules = append(d.rules, a.words())
	return d.set(text, err)
}

// late is the setting by which a tool gets a supervisor.
var late = edit.String("late", "open")

func (d *draft) writeLate(like string, a *addition) error {
	if !a.late {
		return nil
	}
	text, err := edit.Set(d.text.Bytes, append(d.text.Tool(d.p.Tool.Name, like), "access"), late, a.notes...)
	d.rules = append(d.rules, a.words())
	return d.set(text, err)
}

// supervise asks for a supervisor, unless the layer has decided about that.
func (d *draft) supervise() error {
	text, err := layerfile.Parse(d.p.Name, d.p.old)
	if err != nil {
		return err
	}
	if text.Get(append(text.Tool(d.p.Tool.Name, d.p.Tool.Source.Origin.Path), "access", late.Key)...) == nil {
		d.adds = append(d.adds, &addition{late: true})
	}
	return nil
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

// file writes a rule on files: into the one that the layer has on the path, or behind the others.
func (d *draft) file(like string, r ir.FSRule, notes []string) error {
	item := capFields(r.Caps)
	at, items := d.text.List(d.p.Tool.Name, like, "fs")
	for i, v := range items {
		if r.External && hasOuter(v, r) {
			return nil // it waits for the approval of its target
		}
		if path, has, ok := written(v); ok && !r.External && path == r.At.Path {
			// An explicit false would win over a further write = true.
			if slices.ContainsFunc(ir.Capabilities[:], func(c ir.Capability) bool { on, says := has[c.String()]; return says && !on }) {
				continue
			}
			missing := r.Caps
			for _, c := range r.Caps.List() {
				if has[c.String()] || has["write"] && ir.Write.Has(c) {
					missing = missing &^ ir.Caps(c)
				}
			}
			if missing == 0 {
				return nil // it has them, and another rule was in the way
			}
			if text, err := edit.Extend(d.text.Bytes, at, i, capFields(missing), notes...); err == nil {
				d.rules = append(d.rules, r.At.Short()+": "+r.Caps.String())
				return d.set(text, nil)
			}
		}
	}
	head := edit.Item{edit.String("path", r.At.Short())}
	if r.External {
		head = edit.Item{edit.String("path", r.At.Root.Name), edit.Bool("external", true)}
	}
	return d.append(like, "fs", append(head, item...), notes)
}

// written is the path of a rule on files, and the capabilities that it grants by their keys. A rule by name is about no
// place.
func written(v *source.Value) (at string, has map[string]bool, ok bool) {
	if v.Table == nil || v.Table.Get("external") != nil || v.Table.Get("names") != nil {
		return "", nil, false
	}
	p := v.Table.Get("path")
	if p == nil || p.Kind != source.StringKind {
		return "", nil, false
	}
	at, err := resolve.Lexical(p.Text)
	has = map[string]bool{}
	for _, e := range v.Table.Entries {
		has[e.Key] = e.Value.Bool
	}
	return at, has, err == nil
}

// hasOuter reports whether a written rule is an external one, and grants everything that another
// one would.
func hasOuter(v *source.Value, r ir.FSRule) bool {
	if v.Table == nil || v.Table.Get("names") != nil ||
		v.Table.Get("external") == nil || !v.Table.Get("external").Bool {
		return false
	}
	at := v.Table.Get("path")
	return at != nil && at.Text == r.At.Root.Name && !slices.ContainsFunc(r.Caps.List(), func(c ir.Capability) bool {
		on := v.Table.Get(c.String())
		return on == nil || !on.Bool
	})
}

func capFields(caps ir.CapSet) edit.Item {
	var item edit.Item
	for _, c := range caps.List() {
		switch {
		case caps.Contains(ir.Write) && c == ir.Create:
			item = append(item, edit.Bool("write", true))
		case caps.Contains(ir.Write) && ir.Write.Has(c):
		default:
			item = append(item, edit.Bool(c.String(), true))
		}
	}
	return item
}

func (d *draft) append(like, list string, item edit.Item, notes []string) error {
	at, _ := d.text.List(d.p.Tool.Name, like, list)
	text, err := edit.Append(d.text.Bytes, at, item, notes...)
	if err := d.set(text, err); err != nil {
		return err
	}
	d.rules = append(d.rules, list+": "+item.String())
	return nil
}

func (d *draft) set(text []byte, err error) error {
	if err == nil {
		d.text, err = layerfile.Parse(d.p.Name, text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.p.Name, err)
	}
	return nil
}
