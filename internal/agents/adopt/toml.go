package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// tomlTable is the table of servers in Codex' config.toml.
const tomlTable = "mcp_servers"

// reading is a document as it was read.
type reading struct {
	entries []*entry
	// text is the document without the comments among arguments.
	text []byte
	// others are tables of servers in places that no client is known for.
	others []string
	// rest stands for all values but those of commands and arguments, as far as the form compares them.
	rest string
}

// form reads a document.
type form func(doc []byte) (*reading, error)

// formOf is the form of a file, by its name.
func formOf(path string) form {
	if strings.EqualFold(filepath.Ext(path), ".toml") {
		return readTOML
	}
	return readJSON
}

// readTOML reads a document of TOML. The places of its values stand in those of the entries, which are JSON's.
func readTOML(doc []byte) (*reading, error) {
	root, fault := source.Parse("the file", doc)
	if fault != nil {
		return nil, fmt.Errorf("%d:%d: %s", fault.At.Line, fault.At.Col, fault.Label)
	}
	d := &tomlDocument{doc: doc, text: bytes.Clone(doc), lines: []int{0}}
	for i, b := range doc {
		if b == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	out := &reading{text: d.text}
	for i := range root.Entries {
		e := &root.Entries[i]
		switch table := e.Value.Table; {
		case e.Key != tomlTable && isTable(e.Key):
			out.others = append(out.others, e.Key)
		case e.Key == tomlTable && table != nil:
			for j := range table.Entries {
				server := &table.Entries[j]
				out.entries = append(out.entries, d.entry(server))
				out.rest += rest(server.Key, server.Value, "command", "args")
			}
			continue
		}
		out.rest += rest(e.Key, e.Value)
	}
	if len(out.entries)+len(out.others) == 0 {
		return nil, ErrServers
	}
	return out, nil
}

// rest stands for a value without some keys.
func rest(key string, v *source.Value, without ...string) string {
	if v.Table != nil && len(without) > 0 {
		v = &source.Value{Kind: v.Kind, Table: v.Table.Without(without...)}
	}
	return tomltext.Key(key) + "=" + v.Key() + "\n"
}

// tomlDocument finds the bytes of values.
type tomlDocument struct {
	doc, text []byte
	lines     []int // where each begins
}

// offset is that of a position, whose columns are characters.
func (d *tomlDocument) offset(at ir.Pos) int {
	i := d.lines[at.Line-1]
	for range []rune(string(d.doc[i:]))[:at.Col-1] {
		for i++; i < len(d.doc) && d.doc[i]&0xC0 == 0x80; i++ {
		}
	}
	return i
}

// value is a text, or another value that is there.
func (d *tomlDocument) value(v *source.Value) strictjson.Value {
	at := d.offset(v.At)
	raw := string(d.doc[at:min(at+v.Span, len(d.doc))])
	if v.Kind == source.StringKind {
		return strictjson.Value{Type: strictjson.String, Raw: raw, Str: v.Text, Index: at}
	}
	return strictjson.Value{Type: strictjson.JSON, Raw: raw, Index: at}
}

// entry reads a server.
func (d *tomlDocument) entry(e *source.Entry) *entry {
	out := &entry{name: e.Key, quote: tomltext.String, members: map[string]strictjson.Value{}}
	if e.Value.Table == nil {
		out.why = "is no table"
		return out
	}
	for i := range e.Value.Table.Entries {
		m := &e.Value.Table.Entries[i]
		out.members[m.Key] = d.value(m.Value)
		switch m.Key {
		case "command":
			out.absent = d.beside(m)
		case "args":
			out.why = d.words(out, m.Value)
		case "env", "env_vars":
			out.variablesOf(m)
		}
	}
	out.command, out.args = out.members["command"], out.members["args"]
	if why := out.unusable(); why != "" {
		out.why = why
	}
	return out
}

// words reads the arguments, and blanks the comments among them in the text.
func (d *tomlDocument) words(out *entry, v *source.Value) string {
	if v.Kind != source.ArrayKind {
		return "has arguments that are no list"
	}
	at := d.offset(v.At) + 1
	for _, item := range v.Array {
		word := d.value(item)
		if word.Type != strictjson.String {
			return "has an argument that is no text"
		}
		out.texts, out.words = append(out.texts, word), append(out.words, word.Str)
		d.blank(at, word.Index)
		at = word.Index + len(word.Raw)
	}
	d.blank(at, len(d.text))
	return ""
}

// blank takes the comments away between two values, up to the end of a list.
func (d *tomlDocument) blank(from, to int) {
	comment := false
	for i := from; i < to; i++ {
		switch c := d.text[i]; {
		case c == '\n':
			comment = false
		case comment || c == '#':
			comment, d.text[i] = true, ' '
		case c == ']':
			return
		}
	}
}

// beside begins a list of arguments beside a command: in the same inline table, or on a line of its own with the same
// tables before the key.
func (d *tomlDocument) beside(command *source.Entry) string {
	key := d.offset(command.At)
	before := string(d.doc[d.lines[command.At.Line-1]:key])
	if i := strings.LastIndexAny(before, "{,"); i >= 0 {
		return ", " + strings.TrimLeft(before[i+1:], " \t") + "args = ["
	}
	return "\n" + before + "args = ["
}

// variablesOf reads the variables that the entry sets, and those that the client hands on.
func (e *entry) variablesOf(m *source.Entry) {
	if t := m.Value.Table; m.Key == "env" && t != nil {
		for _, v := range t.Entries {
			e.env = append(e.env, v.Key)
			if v.Value.Kind == source.StringKind {
				e.set = append(e.set, v.Key+"="+v.Value.Text)
			}
		}
		return
	}
	if m.Key == "env" {
		e.why = "has an env that is no table"
	}
	for _, v := range m.Value.Array {
		if v.Table != nil {
			v = v.Table.Get("name")
		}
		if v != nil && v.Kind == source.StringKind {
			e.handed = append(e.handed, v.Text)
		}
	}
}

// errAnother is the error about a document in which servers would start otherwise.
var errAnother = errors.New("it is written in a way that accessc cannot change: " +
	"each server needs its own table [mcp_servers.NAME]")
