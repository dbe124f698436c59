package editor

import (
	"bytes"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/propose/denials"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// The kinds of actions.
const (
	kindFix    = "quickfix"
	kindLayout = "source.format"
)

// actions are the corrections of findings in a range, rules for what the last run of a tool there was refused, and the
// layout of the text.
func (s *server) actions(d *doc, within span) []action {
	out := []action{}
	from, to := d.text.offset(within.Start), d.text.offset(within.End)
	edit := func(title, kind string, of []diagnostic, es ...textEdit) {
		out = append(out, action{title, kind, of, edits{map[string][]textEdit{d.uri: es}}})
	}
	items := source.Outline(d.text.data)
	for _, r := range s.readings(d) {
		path := r.res.Files[r.name].Path
		for _, f := range r.shown(path, d.text.data) {
			start, end := d.text.find(f.At, f.Span)
			if end < from || start > to {
				continue
			}
			if title, e, ok := fix(d.text, items, f, start, end); ok {
				edit(title, kindFix, []diagnostic{s.diagnostic(d.text, f)}, e)
			}
		}
	}
	for _, c := range s.permits(d, spotAt(items, from)) {
		edit(c.title, kindFix, nil, textEdit{d.text.whole(), c.text})
	}
	if e := formatted(d); len(e) > 0 {
		edit("Format the policy", kindLayout, nil, e...)
	}
	return out
}

// fix is the correction that the hint of a finding gives, where it says one in full: another word, another path, or a
// further field of the rule. The result is TOML, or there is none.
func fix(t *text, items []source.Item, f diag.Diagnostic, start, end int) (title string, e textEdit, ok bool) {
	now := string(t.data[start:end])
	quoted := strings.HasPrefix(now, `"`) || strings.HasPrefix(now, "'")
	switch word, value, _ := strings.Cut(f.Hint, " "); {
	case strings.HasPrefix(f.Hint, `did you mean "`):
		meant, _, _ := strings.Cut(strings.TrimPrefix(f.Hint, `did you mean "`), `"`)
		with := tomltext.Key(meant)
		if quoted {
			if strings.HasPrefix(now[1:], source.Preset) && !strings.HasPrefix(meant, source.Preset) {
				meant = source.Preset + meant
			}
			with = tomltext.String(meant)
		}
		title, e = "Change to "+meant, textEdit{t.span(start, end), with}
	case word == "write" && strings.HasPrefix(value, "path = ") && quoted:
		with := quotedPrefix(strings.TrimPrefix(value, "path = "))
		if with == "" {
			return "", e, false
		}
		title, e = "Change to "+with, textEdit{t.span(start, end), with}
	case word == "add":
		field, _, _ := strings.Cut(value, " if ")
		field, _, _ = strings.Cut(field, " to ")
		if _, mistake := source.Parse("", []byte(field)); mistake != nil || strings.HasPrefix(field, "{") {
			return "", e, false
		}
		title, e = "Add "+field, further(t, items, start, field)
	default:
		return "", e, false
	}
	out, _, _, err := t.replaced(change{&e.Range, e.NewText})
	if err != nil || e.NewText == "" {
		return "", e, false
	}
	_, was := source.Parse("", t.data)
	_, is := source.Parse("", out.data)
	return title, e, was != nil || is == nil
}

// quotedPrefix is the string that a text begins with.
func quotedPrefix(text string) string {
	for i := 1; i < len(text) && text[0] == '"'; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[:i+1]
		}
	}
	return ""
}

// further is a field behind the value at an offset: in its table in braces, or on a line of its own.
func further(t *text, items []source.Item, at int, field string) textEdit {
	sp := spotAt(items, at)
	for i := len(sp.chain) - 1; i >= 0; i-- {
		if in := &sp.chain[i]; in.Kind == source.TableKind && len(in.Inner) > 0 {
			behind := in.Inner[len(in.Inner)-1].End
			return textEdit{t.span(behind, behind), ", " + field}
		}
	}
	behind := at
	switch {
	case len(sp.chain) > 0:
		behind = sp.chain[0].End
	case sp.section != nil:
		behind = sp.section.End
	}
	line := t.position(behind).Line
	end := t.end(line)
	newline := "\n"
	if bytes.HasPrefix(t.data[end:], []byte("\r\n")) {
		newline = "\r\n"
	}
	return textEdit{t.span(end, end), newline + field}
}

// permit is a text with rules for refused operations.
type permit struct{ title, text string }

// maxPermits bounds the proposals at a tool.
const maxPermits = 5

// permits are rules for what the last run of a tool was refused, in a document that is saved.
func (s *server) permits(d *doc, sp spot) (out []permit) {
	tool := sp.tool()
	if tool == "" || !sp.header {
		return nil
	}
	for _, r := range s.readings(d) {
		kind := ir.LayerNone
		switch r.name {
		case "accessc.toml":
			kind = ir.LayerWorkspace
		case ".accessc/local.toml":
			kind = ir.LayerLocal
		}
		refused, err := denials.Read(r.res.State, tool)
		if kind == ir.LayerNone || err != nil || refused == nil || refused.Unnamed || refused.Unwatched {
			continue
		}
		opts, err := r.flags.Options(true, hostfacts.Platform())
		if err != nil {
			continue
		}
		p, err := allow.Begin(allow.Request{Compile: opts, Layer: kind, Tool: tool})
		if err != nil {
			continue
		}
		for _, x := range p.Propose(refused.Denials) {
			if x.Plan != nil && bytes.Equal(x.Plan.Old, d.text.data) && len(out) < maxPermits {
				out = append(out, permit{"Allow " + strings.Join(x.Plan.Rules, ", "), string(x.Plan.New)})
			}
		}
	}
	return out
}
