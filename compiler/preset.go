package compiler

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/merge"
	"github.com/accessc/accessc/compiler/presets"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/ir"
)

// presetDraft is a preset that a tool extends, by its own table or by its file's table.
type presetDraft struct {
	v      *source.Value
	scope  scope
	preset *presets.Preset
}

func (d *presetDraft) value() *source.Value { return d.v }

// presetName reads "preset:NAME" or "preset:NAME@VERSION".
func (s scope) presetName(v *source.Value) (*presetDraft, bool) {
	text, ok := s.str(v)
	if !ok {
		return nil, false
	}
	bare, prefixed := strings.CutPrefix(text, source.Preset)
	name, pinned, pin := strings.Cut(bare, "@")
	p, broken := presets.Find(name)
	label := `found "` + text + `"`
	hint := suggest.Hint(name, presets.Names())
	switch {
	case broken != nil:
		s.c.findings.Add(*broken)
		return nil, false
	case p == nil && hint == "":
		hint = "accessc preset list names them"
	case p == nil:
	case !prefixed:
		label += ", expected " + source.Preset + " before the name"
		hint = `write "` + source.Preset + bare + `"`
	case pin && pinned != strconv.FormatInt(p.Version, 10):
		label += ", and this accessc has " + p.String()
		hint = "accessc preset show " + name + " shows it; name its version, or none"
	default:
		s.c.res.Files[p.File.Name] = p.File
		return &presetDraft{v, s, p}, true
	}
	s.report(diag.UnknownPreset, v, label).Hint = hint
	return nil, false
}

// filePresets reads the presets that a file names at its top, for every local tool that it has.
func (c *compilation) filePresets(layer source.Layer) []*presetDraft {
	v := layer.Root.Get("extends")
	if v == nil || v.Kind != source.ArrayKind {
		return nil
	}
	var out []*presetDraft
	for i, item := range v.Array {
		if item.Kind != source.StringKind || !strings.HasPrefix(item.Text, source.Preset) {
			continue
		}
		s := scope{c: c, layer: layer.Kind, confined: layer.Confined, path: "extends"}
		if d, ok := s.item(i).presetName(item); ok {
			out = append(out, d)
		}
	}
	return out
}

// extend adds presets to a tool's presets.
func (d *draft) extend(more []*presetDraft) {
	next := merge.List[*presetDraft]{After: more}
	d.extends, _ = merge.Over(d.extends, next, func(p *presetDraft) string { return p.v.Key() })
}

// presetRules reads a list of all presets of a tool, each preset once.
func presetRules[T written](d *draft, key string, read func(scope, *source.Value) (T, bool)) []T {
	var out []T
	seen := map[string]bool{}
	for _, p := range d.extends.Items() {
		list := p.preset.Rules.Get(key)
		if seen[p.preset.Name] || list == nil {
			continue
		}
		seen[p.preset.Name] = true
		s := scope{c: p.scope.c, layer: ir.LayerPreset, path: d.path() + ".access.extends", at: p.v}
		out = append(out, readItems(s.key(p.preset.Name).key(key), list, read)...)
	}
	return out
}

// presetRule is a rule of a preset without the keys that rules of layers do not have.
func presetRule(v *source.Value) *source.Value {
	out := *v
	out.Table = v.Table.Without("reason", "value", "place")
	return &out
}

// presetFS are the rules of presets about files, apart from those at or below a place that a rule
// of the tool's own names: there the tool's own rules decide.
// See decision D190.
func (d *draft) presetFS() []*fsDraft {
	vouched := d.vouched()
	all := presetRules(d, "fs", func(s scope, v *source.Value) (*fsDraft, bool) {
		r, ok := s.fsRule(presetRule(v))
		if ok {
			r.preset, r.reason, r.vouched = v.At.File, v.Table.Get("reason").Text, vouched[v.At.File]
		}
		return r, ok
	})
	var out []*fsDraft
	taken := map[string]bool{}
	for _, r := range all {
		name := fsWinner(r)
		if !taken[name] && !d.decides(name) {
			out = append(out, r)
		}
		taken[name] = true
	}
	return out
}

// decides reports whether a rule of the tool's own is about a place outside of the workspace.
func (d *draft) decides(place string) bool {
	for _, own := range d.fs.Items() {
		path, err := resolve.Spelling(own.path.Text)
		if _, ok := resolve.Below(place, path.Lexical); err == nil && path.Direct && ok {
			return true
		}
	}
	return false
}

// vouched are the presets, by the names of their files, that the user's own layer or command line
// names. A layer in the workspace is not only the user's.
// See decision D190.
func (d *draft) vouched() map[string]bool {
	out := map[string]bool{}
	for _, p := range d.extends.Items() {
		if p.scope.layer == ir.LayerSet || p.scope.layer == ir.LayerUser && !p.scope.confined {
			out[p.preset.File.Name] = true
		}
	}
	return out
}

// there reports whether the place of a preset's rule is on this host, outside of the workspace. A
// portable policy keeps every place.
func (c finisher) there(d *fsDraft) bool {
	if c.opts.Approved == nil || len(d.names) > 0 && !d.external {
		return true
	}
	found, err := c.res.Resolver.Rule(d.path.Text)
	return err == nil && found.Kind != ir.Absent && !found.Inside
}

// named reports whether the place of a preset's rule lies in the home as its name says, and no
// symlink of the home leads elsewhere.
func (c finisher) named(found resolve.RulePath) bool {
	home, err := c.res.Resolver.Disk.Follow(c.res.Resolver.Home)
	rest, ok := strings.CutPrefix(found.Lexical, "~")
	return err == nil && ok && found.Abs == strings.TrimSuffix(home.Abs, "/")+rest
}

// presetNet are the rules of presets about hosts that no rule of the tool's own is about, be it by a
// pattern.
func (d *draft) presetNet() []*netDraft {
	var hosts []ir.NetRule
	listens := false
	for _, own := range d.net.Items() {
		hosts = append(hosts, ir.NetRule{Host: own.rule.Host, Allow: true})
		listens = listens || own.rule.Listen
	}
	about := ir.NewView(&ir.Tool{Net: hosts}, ir.Linux, ir.Facts{})
	return slices.DeleteFunc(d.allPresetNet(), func(r *netDraft) bool {
		if r.rule.Listen {
			return listens
		}
		to := ir.Endpoint{Scheme: "https", Host: r.rule.Host, Port: ir.DefaultPort("https")}
		return about.Decide(ir.Connect{To: to}).Allowed()
	})
}

// allPresetNet are the net rules of presets, with those that a rule of the tool's own leaves out.
func (d *draft) allPresetNet() []*netDraft {
	return presetRules(d, "net", func(s scope, v *source.Value) (*netDraft, bool) { return s.netRule(presetRule(v)) })
}

// presetEnv are the rules of presets about variables that no rule of the tool's own withholds. A variable that gets a
// value is about a place that the policy has a rule for.
func (c finisher) presetEnv(t *ir.Tool, d *draft) []*envDraft {
	own := ir.NewEnvView(envRules(d.env.Items()), ir.HomeReal, ir.Linux)
	var out []*envDraft
	for _, r := range presetRules(d, "env", c.presetVariable) {
		v := own.Decide(ir.Forward{Name: r.rule.Name})
		if denied := !v.Allowed() && v.Reason == ir.ReasonRule; !denied && c.placed(t, r) {
			out = append(out, r)
		}
	}
	return out
}

// presetVariable reads a rule about a variable, which may have a value.
// See decision D190.
func (c finisher) presetVariable(s scope, v *source.Value) (*envDraft, bool) {
	d, ok := s.envRule(presetRule(v))
	if place := v.Table.Get("place"); place != nil && ok {
		d.place = place.Text
	}
	if value := v.Table.Get("value"); value != nil && ok {
		d.rule.Value = value.Text
		if c.opts.Approved != nil {
			d.rule.Value = strings.ReplaceAll(value.Text, ir.UserHome, c.res.Resolver.Home)
		}
	}
	return d, ok
}

// placed reports whether the place that a variable names is a place that a rule of the policy grants.
func (c finisher) placed(t *ir.Tool, d *envDraft) bool {
	if d.place == "" {
		return true
	}
	for i := range t.FS {
		if r := &t.FS[i]; r.External && r.Caps.Has(ir.Read) {
			if _, ok := resolve.Below(d.place, r.At.Root.Name); ok {
				return true
			}
		}
	}
	return false
}
