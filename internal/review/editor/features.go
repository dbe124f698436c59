package editor

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/accessc/accessc/compiler/presets"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/files/wholefile"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/review/sides"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// spot is what a text has at an offset.
type spot struct {
	// section is the header above, nil at the beginning of a text; chain are the value there and those in it.
	section *source.Item
	chain   []source.Item
	// header is true within the header itself.
	header bool
	// keys are the parts of keys from the root on.
	keys []string
	// key is the part of a key at the offset, nil elsewhere.
	key *source.Key
}

func spotAt(items []source.Item, at int) spot {
	var s spot
	for i := range items {
		item := &items[i]
		if item.Start > at {
			break
		}
		if item.Header {
			s.section, s.header = item, at <= item.End
		}
	}
	if s.section != nil {
		s.add(s.section.Keys, at, s.header)
	}
	if s.header {
		return s
	}
	inner := items
	for {
		i := slices.IndexFunc(inner, func(x source.Item) bool { return !x.Header && x.Start <= at && at <= x.End })
		if i < 0 {
			return s
		}
		s.chain = append(s.chain, inner[i])
		s.add(inner[i].Keys, at, true)
		inner = inner[i].Inner
	}
}

// add adds the parts of keys, up to the part at an offset if it is among them.
func (s *spot) add(keys []source.Key, at int, here bool) {
	for i := range keys {
		s.keys = append(s.keys, keys[i].Text)
		if here && keys[i].Start <= at && at <= keys[i].End {
			s.key = &keys[i]
			return
		}
	}
}

// value is the innermost value at the offset, nil for none.
func (s *spot) value() *source.Item {
	if len(s.chain) == 0 || s.key != nil {
		return nil
	}
	return &s.chain[len(s.chain)-1]
}

// tool is the tool that the keys are about, empty for none.
func (s *spot) tool() string {
	keys := s.keys
	if len(keys) > 0 && keys[0] == "conversation" {
		keys = keys[1:]
	}
	if len(keys) > 1 && (keys[0] == "tools" || keys[0] == ir.ServersTable) {
		return keys[1]
	}
	return ""
}

// lines are the lines that rules at the offset have for their provenance, the innermost first.
func (s *spot) lines(data []byte, at int) (out []int) {
	add := func(offset int) {
		if n := 1 + bytes.Count(data[:offset], []byte("\n")); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for i := len(s.chain) - 1; i >= 0; i-- {
		add(s.chain[i].From)
		add(s.chain[i].Start)
	}
	if s.section != nil && (s.section.List || s.header) {
		add(s.section.Start)
	}
	if len(out) == 0 {
		add(at)
	}
	return out
}

// reading is a workspace with a document as a layer, and the name of the document there.
type reading struct {
	*root
	name string
}

// readings are the workspaces of which a document is a layer.
func (s *server) readings(d *doc) (out []reading) {
	for _, r := range s.roots {
		if r.res == nil {
			continue
		}
		for name, f := range r.res.Files {
			if f.Path != "" && (f.Path == d.path || f.Path == d.canonical || f.Path == d.real) {
				out = append(out, reading{r, name})
				break
			}
		}
	}
	return out
}

// policy is a tool's policy as explain shows it.
func (r reading) policy(t *ir.Tool) *explain.Policy {
	p, err := sides.Policies(r.res, []*ir.Tool{t})
	if err != nil || len(p) == 0 {
		return nil
	}
	return p[0]
}

// tools are those of a name, and for an empty name all; none of a configuration with errors.
func (r reading) tools(name string) []*ir.Tool {
	if r.res.Program == nil {
		return nil
	}
	if name == "" {
		return r.res.Program.Tools
	}
	var out []*ir.Tool
	for _, t := range r.res.Program.Tools {
		if t.Name == name {
			out = append(out, t)
		}
	}
	return out
}

// maxHover bounds the tools whose rows are shown at a line.
const maxHover = 3

// hover shows what explain says of a line: the whole policy at the name of a tool, the rows that come from a rule, the
// text of a preset, and what a key means.
func (s *server) hover(d *doc, at int) *hover {
	sp := spotAt(source.Outline(d.text.data), at)
	var parts []string
	if v := sp.value(); v != nil && v.Kind == source.StringKind {
		if p := presetOf(v.Text); p != nil {
			parts = append(parts, p.Purpose, fence("toml", p.Text()))
		}
	}
	shown := 0
	for _, r := range s.readings(d) {
		for _, t := range r.tools(sp.tool()) {
			if shown == maxHover {
				break
			}
			p := r.policy(t)
			if p == nil {
				continue
			}
			if sp.header && !sp.section.List && sp.key != nil && sp.key.Text == t.Name {
				parts = append(parts, fence("text", explain.Groups([]*explain.Policy{p})[0].Text(s.options.Style)))
				shown++
				continue
			}
			for _, n := range sp.lines(d.text.data, at) {
				origin := ir.Origin{Pos: ir.Pos{File: r.name, Line: n}}.String()
				if rows := p.PlaceText(origin, s.options.Style); rows != "" {
					parts = append(parts, "`"+strings.ReplaceAll(t.Name, "`", "'")+"`", fence("text", rows))
					shown++
					break
				}
			}
		}
	}
	out := &hover{}
	if sp.key != nil {
		if k := s.schema.at(sp.keys...); k != nil && k.Doc != "" {
			parts = append(parts, k.Doc)
		}
		span := d.text.span(sp.key.Start, sp.key.End)
		out.Range = &span
	}
	if len(parts) == 0 {
		return nil
	}
	out.Contents = markup{"markdown", strings.Join(parts, "\n\n")}
	return out
}

// fence quotes text in Markdown, whose own fences cannot end it.
func fence(language, text string) string {
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks + language + "\n" + strings.TrimRight(text, "\n") + "\n" + marks
}

// presetOf is the preset that an entry of extends names.
func presetOf(text string) *presets.Preset {
	name, ok := strings.CutPrefix(text, source.Preset)
	if !ok {
		return nil
	}
	name, _, _ = strings.Cut(name, "@")
	p, _ := presets.Find(name)
	return p
}

// definition leads from an entry of extends to its files, from a tool to where it is first mentioned, and from a rule
// to the rules that win over it, or to itself.
func (s *server) definition(d *doc, at int) []place {
	sp := spotAt(source.Outline(d.text.data), at)
	out := []place{}
	if v := sp.value(); v != nil && v.Kind == source.StringKind && slices.Contains(sp.keys, "extends") {
		if p := presetOf(v.Text); p != nil {
			return s.presetPlace(p, 1)
		}
		return s.extended(d, v.Text)
	}
	for _, r := range s.readings(d) {
		name := sp.tool()
		if name != "" && sp.key != nil && sp.key.Text == name {
			if p, ok := s.placeOf(r.res.First(name)); ok {
				out = append(out, p)
			}
			continue
		}
		for _, t := range r.tools(name) {
			out = append(out, s.winners(r, t, sp.lines(d.text.data, at))...)
		}
	}
	return out
}

// winners are the places of the rules that decide instead of the rule at a line, or its own.
func (s *server) winners(r reading, t *ir.Tool, lines []int) []place {
	rules := []ir.Rule{}
	for i := range t.FS {
		rules = append(rules, &t.FS[i])
	}
	for i := range t.Net {
		rules = append(rules, &t.Net[i])
	}
	for i := range t.Env {
		rules = append(rules, &t.Env[i])
	}
	if t.Commands != nil {
		for i := range t.Commands.Rules {
			rules = append(rules, &t.Commands.Rules[i])
		}
	}
	for _, n := range lines {
		var out []place
		for _, rule := range rules {
			if at := rule.Source().Pos; at.File != r.name || at.Line != n {
				continue
			}
			by := []ir.Rule{rule}
			idle, _ := compare.Idles(t)
			for _, f := range idle {
				if f.Rule == rule {
					by = nil
					for _, side := range f.By {
						if side.Rule != nil {
							by = append(by, side.Rule)
						}
					}
				}
			}
			for _, b := range by {
				out = append(out, s.rulePlace(b)...)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

func (s *server) rulePlace(rule ir.Rule) []place {
	from := rule.Source()
	if from.Layer == ir.LayerPreset {
		if p := presetOf(from.Pos.File); p != nil {
			return s.presetPlace(p, from.Pos.Line)
		}
	}
	if p, ok := s.placeOf(from.Pos); ok {
		return []place{p}
	}
	return nil
}

// presetPlace is a line of a copy of a preset, in the user's own directory for what can be made anew.
func (s *server) presetPlace(p *presets.Preset, line int) []place {
	dir, err := os.UserCacheDir()
	if err != nil {
		return []place{}
	}
	file := filepath.Join(dir, "accessc", "presets", strings.TrimPrefix(p.String(), source.Preset)+".toml")
	if _, has, err := wholefile.Read(file); err != nil || string(has) != p.Text() {
		if os.MkdirAll(filepath.Dir(file), 0o700) != nil || wholefile.Spare(file, []byte(p.Text())) != nil {
			return []place{}
		}
	}
	start, end := newText([]byte(p.Text()), s.utf8).find(ir.Pos{Line: line, Col: 1}, 0)
	return []place{{fileURI(file), newText([]byte(p.Text()), s.utf8).span(start, end)}}
}

// extended are the layers that an entry of extends stands for.
func (s *server) extended(d *doc, pattern string) []place {
	out := []place{}
	for _, r := range s.readings(d) {
		dir := filepath.Dir(r.res.Files[r.name].Path)
		if filepath.IsAbs(filepath.FromSlash(pattern)) {
			dir = ""
		}
		for _, f := range r.res.Files {
			rel, err := filepath.Rel(dir, f.Path)
			if f.Path == "" || err != nil && dir != "" {
				continue
			}
			if dir == "" {
				rel = f.Path
			}
			clean := strings.TrimPrefix(filepath.ToSlash(filepath.Clean(filepath.FromSlash(pattern))), "./")
			if ok, err := doublestar.Match(clean, filepath.ToSlash(rel)); err == nil && ok {
				uri, t := s.file(f.Path, f.Data)
				out = append(out, place{uri, t.span(0, 0)})
			}
		}
	}
	slices.SortFunc(out, func(a, b place) int { return strings.Compare(a.URI, b.URI) })
	return slices.Compact(out)
}

// hints say behind the first mention of each tool what it may do in the end.
func (s *server) hints(d *doc, within span) []inlay {
	out := []inlay{}
	for _, r := range s.readings(d) {
		for _, t := range r.tools("") {
			first := r.res.First(t.Name)
			if first.File != r.name || first.Line < 1 {
				continue
			}
			start, _ := d.text.find(first, 0)
			at := d.text.position(start)
			if at.Line < within.Start.Line || at.Line > within.End.Line {
				continue
			}
			at = d.text.position(d.text.end(at.Line))
			p := &explain.Policy{Tool: t, View: ir.NewView(t, ir.Linux, ir.Facts{Protected: r.res.Protected(t)})}
			out = append(out, inlay{at, p.Brief(), true})
		}
	}
	return out
}

// symbols are the tables of a text with their keys.
func symbols(t *text) []symbol {
	out := []symbol{}
	items := source.Outline(t.data)
	for i := range items {
		item := &items[i]
		if !item.Header {
			s := keySymbol(t, item)
			if n := len(out); n > 0 && out[n-1].Kind != symbolKey {
				out[n-1].Children = append(out[n-1].Children, s)
				out[n-1].Range.End = s.Range.End
			} else {
				out = append(out, s)
			}
			continue
		}
		s := symbol{Name: dotted(item.Keys), Kind: symbolTable, Range: t.span(item.Start, item.End)}
		last := item.Keys[len(item.Keys)-1]
		s.Selected = t.span(last.Start, last.End)
		if sp := (spot{keys: texts(item.Keys)}); sp.tool() == last.Text {
			s.Kind = symbolTool
		}
		if item.List && i+1 < len(items) && !items[i+1].Header {
			s.Detail = items[i+1].Text
		}
		out = append(out, s)
	}
	return out
}

func keySymbol(t *text, item *source.Item) symbol {
	s := symbol{Name: dotted(item.Keys), Detail: item.Text, Kind: symbolKey, Range: t.span(item.Start, item.End)}
	s.Selected = t.span(item.Keys[0].Start, item.Keys[len(item.Keys)-1].End)
	return s
}

func texts(keys []source.Key) []string {
	var out []string
	for _, k := range keys {
		out = append(out, k.Text)
	}
	return out
}

func dotted(keys []source.Key) string { return strings.Join(texts(keys), ".") }
