package allow

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/edit"
	"github.com/accessc/accessc/compiler/presets"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/ir"
)

// extension is the preset that speaks for the place of a group: a toolchain lies in a directory of the home, and
// its programs are needed together. Empty where none does, where a preset opens more than files and
// variables, and where the layer has a list of presets that lacks it.
// See decision D215.
func (p *Planner) extension(g group) string {
	name := ""
	for _, a := range g.asks {
		about := ir.Describe(a.Operation)
		abs, ok := p.asker.Bindings.Path(about.Places[0].At)
		rest, inside := strings.CutPrefix(abs, p.home()+"/")
		if !ok || !inside || p.home() == "" || (about.Needs[0]|a.own)&ir.Write != 0 {
			return ""
		}
		named := presets.About("~/" + rest)
		if len(named) != 1 || name != "" && name != named[0] {
			return ""
		}
		name = named[0]
	}
	x, _ := presets.Find(name)
	toolchain := func(r preset) bool { return directory(r.target) || g.asks[0].sought }
	if x == nil || x.Rules.Get("net") != nil || !slices.ContainsFunc(p.places(x), toolchain) {
		return ""
	}
	if has := p.extends(); has != nil && !has[source.Preset+name] {
		return ""
	}
	return name
}

// Sought are operations for files that a tool looked for in its own home: the reads of files in the user's home that one
// preset has rules on. See decision D215.
func (p *Planner) Sought(names []string) (out []denial.Entry) {
	asked := map[string]bool{}
	for _, name := range names {
		about := presets.Beside(name)
		if len(about) != 1 || asked[about[0]] {
			continue
		}
		asked[about[0]] = true
		x, _ := presets.Find(about[0])
		for _, r := range p.places(x) {
			out = append(out, denial.Entry{
				Times: 1, Operation: "read", Target: r.name, Question: []string{"read", r.target}, Needs: []string{"read"}, Sought: true,
				Reason: "the tool looked for it in its own home",
			})
		}
	}
	return out
}

// extends are the presets that the layer has for the tool, nil where it has no list of them.
func (p *Planner) extends() map[string]bool {
	text, err := layerfile.Parse(p.Name, p.old)
	if err != nil {
		return nil
	}
	v := text.Get(append(text.Tool(p.Tool.Name, p.Tool.Source.Origin.Path), "access", "extends")...)
	if v == nil {
		return nil
	}
	out := map[string]bool{}
	for _, item := range v.Array {
		out[item.Text] = true
	}
	return out
}

// preset is a rule of a preset about a place of the home that is there.
type preset struct{ name, target string }

func (p *Planner) places(x *presets.Preset) (out []preset) {
	list := x.Rules.Get("fs")
	if list == nil {
		return nil
	}
	for _, r := range list.Array {
		name := r.Table.Get("path").Text
		found, err := p.Now.Resolver.Rule(name)
		if err == nil && found.Kind != ir.Absent && !found.Inside {
			out = append(out, preset{name, found.Abs})
		}
	}
	return out
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
	for _, r := range d.p.places(x) {
		if d.p.asker.Bindings.External[r.name] == "" {
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

// presets are those of an addition, as a policy names them.
func (a *addition) presets() (names []string) {
	for _, name := range a.extends {
		names = append(names, source.Preset+name)
	}
	return names
}

// list is the same as TOML.
func (a *addition) list() edit.Field { return edit.Field{Key: "extends", Value: array(a.presets())} }

func (d *draft) writeExtends(like string, a *addition) error {
	if a.extends == nil {
		return nil
	}
	if d.p.extends() != nil {
		a.idle = true // it waits for the approval of its places
		return nil
	}
	text, err := edit.Set(d.text.Bytes, append(d.text.Tool(d.p.Tool.Name, like), "access"), a.list(), a.notes...)
	d.rules = append(d.rules, a.words())
	return d.set(text, err)
}
