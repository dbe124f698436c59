package allow

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/edit"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/approvals"
	"github.com/accessc/accessc/internal/hostfacts"
	"github.com/accessc/accessc/internal/layerfile"
	"github.com/accessc/accessc/internal/supervisor/denial"
	"github.com/accessc/accessc/internal/tomltext"
	"github.com/accessc/accessc/ir"
)

// Plan is an addition to a layer. It has passed every check and changed nothing.
type Plan struct {
	// Name is the file of the layer, Old and New are its text; a nil Old is no file.
	Name     string
	Old, New []byte
	// Reach describes the grants beyond the operations.
	Reach Reach
	// Rules are the grants in words.
	Rules []string
	p     *Planner
}

// Plan finds the additions that permit operations. A *Refusal says why there should be none, and
// any other error why there is none. A plan for operations that are permitted already is empty.
func (p *Planner) Plan(asks ...Ask) (*Plan, error) {
	d := &draft{p: p, text: layerfile.Text{}, tool: *p.Tool}
	var err error
	if d.text, err = layerfile.Parse(p.Name, p.old); err != nil {
		return nil, err
	}
	for _, a := range asks {
		if err := d.add(a); err != nil {
			return nil, err
		}
	}
	if err := d.write(); err != nil {
		return nil, err
	}
	out := &Plan{Name: p.Name, Old: p.old, New: d.text.Bytes, Rules: d.rules, p: p}
	if out.Empty() {
		return out, nil
	}
	opts := p.req.Compile
	opts.Layers.Edited = map[string][]byte{filepath.Join(p.root, p.dir, p.name): out.New}
	then, t, err := compile(opts, p.req.Tool, true)
	if err != nil {
		return nil, err
	}
	v := ir.NewView(t, hostfacts.Platform(), then.Facts(t))
	for _, a := range asks {
		if verdict := a.denied(v); verdict != nil {
			return nil, stillDenied(a, verdict)
		}
	}
	if err := p.harmless(then, t, v); err != nil {
		return nil, err
	}
	out.Reach = p.reach(v, d, asks)
	return out, nil
}

// Empty reports whether there is nothing to be written.
func (p *Plan) Empty() bool { return bytes.Equal(p.Old, p.New) }

func stillDenied(a Ask, v *ir.Verdict) error {
	about := ir.Describe(a.Operation)
	if v.Rule == nil {
		return fmt.Errorf("%s %s: no rule in this layer permits it (%s)", about.Verb, about.Subject, v.Reason)
	}
	return fmt.Errorf("%s %s: the rule %s (%s) still decides (%s)", about.Verb, about.Subject, v.Rule.Subject(), v.Rule.Source(), v.Reason)
}

// draft is a plan in the making.
type draft struct {
	p    *Planner
	text layerfile.Text
	// tool is the policy with the rules so far.
	tool ir.Tool
	fs   []ir.FSRule
	net  []edit.Item
	env  []string
	// programs are keys and values of the table of commands.
	programs []edit.Field
	rules    []string
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
	switch op := a.Operation.(type) {
	case ir.Forward:
		d.env = append(d.env, op.Name)
		d.tool.Env = append(slices.Clone(d.tool.Env), ir.EnvRule{Name: op.Name, Read: true})
		return nil
	case ir.Run:
		return d.run(op, a.denied(v))
	case ir.Connect, ir.Listen:
		fields, ok := (&denial.Denial{Operation: op, View: v}).NetRule()
		if !ok {
			return stillDenied(a, a.denied(v))
		}
		var item edit.Item
		for _, f := range fields {
			item = append(item, edit.Field{Key: f[0], Value: f[1]})
		}
		d.net = append(d.net, item)
		return nil
	default:
		return d.files(a, v)
	}
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
		d.fs = merged(d.fs, r)
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
	if why := leaves[path.Base(name)]; why != "" {
		return refuse("%s %s; if it is meant, write the rule yourself", name, why)
	}
	if denied.Reason != ir.ReasonCommand && denied.Reason != ir.ReasonArgs {
		return stillDenied(Ask{Operation: op}, denied)
	}
	if len(op.Args) == 0 {
		d.programs = append(d.programs, edit.Field{Key: name, Value: "{}"})
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
	lists = append(lists, array(op.Args))
	d.programs = append(d.programs, edit.Field{Key: name, Value: "{ args = [" + strings.Join(lists, ", ") + "] }"})
	return nil
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

// leaves are programs that have others act outside of the sandbox, or as another user.
var leaves = map[string]string{
	"sudo": "acts as another user", "su": "acts as another user", "pkexec": "acts as another user", "doas": "acts as another user",
	"docker": "has a service act, which is root", "podman": "has a service act", "nerdctl": "has a service act, which is root",
	"tmux": "has a server act that is not confined", "screen": "has a server act that is not confined", "at": "has a service act later",
	"batch": "has a service act later", "crontab": "has a service act later", "systemd-run": "has a service act", "systemctl": "has a service act",
	"busctl": "has services act", "dbus-send": "has services act", "gdbus": "has services act", "xdg-open": "has the desktop act",
	"launchctl": "has a service act", "open": "has the desktop act", "osascript": "has the desktop act",
}

// write puts the rules into the text of the layer.
func (d *draft) write() error {
	like := d.p.Tool.Source.Origin.Path
	if len(d.fs) > 0 && !d.p.Tool.Declared.FS {
		// A list that is declared loses its default.
		for _, r := range ir.DefaultFS() {
			d.fs = slices.Insert(d.fs, 0, r)
		}
	}
	for _, r := range d.fs {
		if err := d.file(like, r); err != nil {
			return err
		}
	}
	for _, item := range d.net {
		if err := d.append(like, "net", item); err != nil {
			return err
		}
	}
	for _, name := range d.env {
		if err := d.append(like, "env", edit.Item{edit.String("name", name), edit.Bool("read", true)}); err != nil {
			return err
		}
	}
	for _, f := range d.programs {
		at := append(d.text.Tool(d.p.Tool.Name, like), "access", "commands")
		text, err := edit.Set(d.text.Bytes, at, f)
		if err := d.set(text, err); err != nil {
			return err
		}
		d.rules = append(d.rules, "run "+f.Key+" = "+f.Value)
	}
	return nil
}

// file writes a rule on files: into the one that the layer has on the path, or behind the others.
func (d *draft) file(like string, r ir.FSRule) error {
	item := capFields(r.Caps)
	at, items := d.text.List(d.p.Tool.Name, like, "fs")
	for i, v := range items {
		if path, has, ok := written(v); ok && path == r.At.Path {
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
			if text, err := edit.Extend(d.text.Bytes, at, i, capFields(missing)); err == nil {
				d.rules = append(d.rules, r.At.Short()+": "+r.Caps.String())
				return d.set(text, nil)
			}
		}
	}
	return d.append(like, "fs", append(edit.Item{edit.String("path", r.At.Short())}, item...))
}

// written is the path of a rule on files, and the capabilities that it grants by their keys.
func written(v *source.Value) (at string, has map[string]bool, ok bool) {
	if v.Table == nil || v.Table.Get("external") != nil {
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

func (d *draft) append(like, list string, item edit.Item) error {
	at, _ := d.text.List(d.p.Tool.Name, like, list)
	text, err := edit.Append(d.text.Bytes, at, item)
	if err := d.set(text, err); err != nil {
		return err
	}
	var words []string
	for _, f := range item {
		words = append(words, f.Key+" = "+f.Value)
	}
	d.rules = append(d.rules, list+": "+strings.Join(words, ", "))
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

// Apply writes the layer, whole or not at all. layerfile.ErrChanged says that another process has
// written it meanwhile.
func (p *Plan) Apply(ctx context.Context) error {
	if p.Empty() {
		return nil
	}
	store, err := p.p.Now.Approvals()
	if err != nil {
		return fmt.Errorf("%s %w", store, err)
	}
	// All writers of layers have the lock of the approvals.
	_, err = approvals.Update(store, func(*approvals.Store) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return p.write()
	})
	return err
}

func (p *Plan) write() error {
	if p.p.req.Layer == ir.LayerUser {
		if err := os.MkdirAll(p.p.root, 0o700); err != nil {
			return err
		}
	}
	f, err := p.p.open()
	if err != nil {
		return err
	}
	defer func() { f.Close() }()
	if f.Dir == nil {
		if f, err = p.p.makeDir(); err != nil {
			return err
		}
	}
	if !bytes.Equal(f.Data, p.Old) {
		return layerfile.ErrChanged
	}
	return errors.Join(f.Write(p.New), layerfile.SyncDir(f.Dir))
}

// makeDir makes the directory of the local layer, which is for this checkout alone.
func (p *Planner) makeDir() (*layerfile.File, error) {
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.Mkdir(p.dir, 0o777); err != nil {
		return nil, err
	}
	f, err := layerfile.Open(root, p.dir, p.name)
	if err == nil {
		err = layerfile.Ignore(f.Dir)
	}
	return f, err
}

// Change is the change of the file by lines: from a line, counted from 1, as many as are replaced
// give way to others.
// See RATIONALE D178.
func (p *Plan) Change() (line, replaced int, changed []string) {
	old, now := lines(p.Old), lines(p.New)
	same := 0
	for same < len(old) && same < len(now) && old[same] == now[same] {
		same++
	}
	end := 0
	for end < len(old)-same && end < len(now)-same && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	return same + 1, len(old) - same - end, now[same : len(now)-end]
}

func lines(text []byte) []string {
	s := strings.ReplaceAll(string(text), "\r\n", "\n")
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
