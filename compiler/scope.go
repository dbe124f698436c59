package compiler

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// scope is a place in the configuration while it is read: the path that leads to it and its
// layer.
type scope struct {
	c     *compilation
	layer ir.Layer
	path  string
	// confined is the layer's confined.
	confined bool
	// foreign is true in a file of another program.
	foreign bool
	// at, unless nil, is where findings are placed: a preset's rules are no text of the user's.
	at *source.Value
}

// Scopes of parts of the configuration whose readers are many.
type (
	netScope     struct{ scope }
	mayScope     struct{ scope }
	rulesetScope struct{ scope }
)

func (s scope) key(k string) scope {
	s.path = strings.TrimPrefix(s.path+"."+tomltext.Key(k), ".")
	return s
}

func (s scope) item(i int) scope {
	s.path += "[" + strconv.Itoa(i) + "]"
	return s
}

func (s scope) report(code diag.Code, v *source.Value, label string) *diag.Diagnostic {
	if s.at != nil {
		v = s.at
	}
	return s.c.report(code, s.path, v, label)
}

func (s scope) origin(at ir.Pos) ir.Origin { return ir.Origin{Layer: s.layer, Pos: at, Path: s.path} }

// expect reports a value of the wrong type.
func (s scope) expect(v *source.Value, want string) {
	s.report(diag.WrongType, v, "found "+v.Kind.String()+", expected "+want)
}

// table reads a table. form describes the expected value, such that a user can copy it.
func (s scope) table(v *source.Value, form string) *source.Table {
	if v.Kind != source.TableKind {
		s.expect(v, form)
		return nil
	}
	return v.Table
}

func (s scope) str(v *source.Value) (string, bool) {
	if v.Kind != source.StringKind {
		s.expect(v, source.StringKind.String())
		return "", false
	}
	return v.Text, true
}

func (s scope) boolean(v *source.Value) bool {
	if v.Kind != source.BoolKind {
		s.expect(v, source.BoolKind.String())
		return false
	}
	return v.Bool
}

func (s scope) integer(v *source.Value) (int64, bool) {
	if v.Kind != source.IntegerKind {
		s.expect(v, source.IntegerKind.String())
		return 0, false
	}
	return v.Int, true
}

// strs reads an array of strings and leaves out other elements.
func (s scope) strs(v *source.Value) []string {
	if v.Kind != source.ArrayKind {
		s.expect(v, "an array of strings")
		return nil
	}
	var out []string
	for i, item := range v.Array {
		if text, ok := s.item(i).str(item); ok {
			out = append(out, text)
		}
	}
	return out
}

// oneOf reads a string that must be one of a few words.
func (s scope) oneOf(v *source.Value, words ...string) (string, bool) {
	text, ok := s.str(v)
	if !ok {
		return "", false
	}
	if !slices.Contains(words, text) {
		d := s.report(diag.BadValue, v, `found "`+text+`", expected `+listing(words))
		d.Hint = suggest.Hint(text, words)
		return "", false
	}
	return text, true
}

// known reports every key of a table that is not in keys. The parameter what names the table,
// such as "an fs rule".
// See decision D12.
func (s scope) known(t *source.Table, what string, keys ...string) {
	for i := range t.Entries {
		e := &t.Entries[i]
		if slices.Contains(keys, e.Key) {
			continue
		}
		d := diag.New(diag.UnknownKey, e.At, e.Span)
		d.Message = "unknown key in " + what
		d.Path, d.Label = s.path, `found "`+e.Key+`", expected `+listing(keys)
		d.Hint = suggest.Hint(e.Key, keys)
		s.c.findings.Add(d)
	}
}

// missing reports a table that lacks a required key.
func (s scope) missing(v *source.Value, what, key string) {
	d := s.report(diag.MissingField, v, "found "+what+" without "+key)
	d.Hint = "add " + key + " = …"
}

func listing(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, ", ")
}
