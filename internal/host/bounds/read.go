package bounds

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/maximum"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// maxTables bounds the tables for patterns of tools.
const maxTables = 256

// Maximum is a maximum as it is written.
type Maximum struct {
	file   *source.File
	stamp  maximum.Stamp
	tables []table
}

// table is a bound of its own on some tools.
type table struct {
	// path is its key in the file, pattern that of tools' names, empty for all tools.
	path, pattern string
	at            ir.Pos
	// access is as of a tool; nil where the table does not bound permissions.
	access *source.Entry
	// accept are the gaps that may be accepted, and acceptAt is where they are written; nil where they are not.
	accept   []ir.Acceptance
	acceptAt *ir.Pos
	requires bool
}

// Name is the file in messages.
func (m *Maximum) Name() string { return m.file.Name }

// Files are the texts for quoting lines of it.
func (m *Maximum) Files() source.Files { return source.Files{m.file.Name: m.file} }

// RequiresAttestation reports whether a tool of a name is started only by an attestation.
func (m *Maximum) RequiresAttestation(tool string) bool {
	return slices.ContainsFunc(m.tables, func(t table) bool { return t.requires && t.about(tool) })
}

func (t table) about(tool string) bool {
	is, err := path.Match(t.pattern, tool)
	return t.pattern == "" || is && err == nil
}

// Read reads the text of a maximum. With an error among the findings it is void, and nothing may be started.
func Read(name string, data []byte, stamp maximum.Stamp) (*Maximum, diag.List) {
	file, root, bad := source.ParseFile(name, data)
	r := reader{m: &Maximum{file: file, stamp: stamp}}
	if bad != nil {
		return r.m, diag.List{*bad}
	}
	r.unknown(root, "", []string{top})
	whole := root.Entry(top)
	switch {
	case whole == nil:
		r.report(diag.MissingField, ir.Pos{File: name, Line: 1, Col: 1}, 0, "",
			"found no [maximum]: a file without one bounds nothing")
	case whole.Value.Kind != source.TableKind:
		r.wrong(whole.Value, top, "a table")
	default:
		r.unknown(whole.Value.Table, top, append(slices.Clone(tableKeys), "tools"))
		r.table(top, "", whole)
		r.tools(whole.Value.Table.Get("tools"))
	}
	r.findings.Sort()
	return r.m, r.findings
}

const top = "maximum"

// tableKeys are the keys of a table; accessOff those of access that have no meaning in it, with what to write instead.
var (
	tableKeys = []string{"access", "accept", "require_attestation"}
	accessOff = map[string]string{
		"accept": "write accept beside access",
		"may":    "access bounds what the user can grant while a tool runs as well",
		"tests":  "accessc check --maximum FILE tests a maximum",
	}
)

type reader struct {
	m        *Maximum
	findings diag.List
}

func (r *reader) report(code diag.Code, at ir.Pos, span int, path, label string) *diag.Diagnostic {
	d := diag.New(code, at, span)
	d.Path, d.Label = path, label
	r.findings.Add(d)
	return &r.findings[len(r.findings)-1]
}

func (r *reader) wrong(v *source.Value, path, want string) {
	r.report(diag.WrongType, v.At, v.Span, path, fmt.Sprintf("found %s, expected %s", v.Kind, want))
}

func (r *reader) unknown(t *source.Table, path string, known []string) {
	for _, e := range t.Entries {
		if !slices.Contains(known, e.Key) {
			d := r.report(diag.UnknownKey, e.At, e.Span, path,
				fmt.Sprintf("found %q, expected one of %s", e.Key, strings.Join(known, ", ")))
			d.Hint = suggest.Hint(e.Key, known)
		}
	}
}

// tools reads the tables for patterns. Their order has no meaning: each is a bound of its own.
func (r *reader) tools(v *source.Value) {
	const at = top + ".tools"
	switch {
	case v == nil:
		return
	case v.Kind != source.TableKind || len(v.Table.Entries) > maxTables:
		r.wrong(v, at, fmt.Sprintf("a table of at most %d patterns of tools", maxTables))
		return
	}
	for i := range v.Table.Entries {
		e := &v.Table.Entries[i]
		p := at + "." + tomltext.Key(e.Key)
		switch _, err := path.Match(e.Key, ""); {
		case err != nil || e.Key == "":
			r.report(diag.BadValue, e.At, e.Span, p,
				fmt.Sprintf("found %q, expected a tool's name or a pattern with *, ? or [a-z]", e.Key))
		case e.Value.Kind != source.TableKind:
			r.wrong(e.Value, p, "a table of "+strings.Join(tableKeys, ", "))
		default:
			r.unknown(e.Value.Table, p, tableKeys)
			r.table(p, e.Key, e)
		}
	}
}

func (r *reader) table(at, pattern string, e *source.Entry) {
	t := table{path: at, pattern: pattern, at: e.At, access: e.Value.Table.Entry("access")}
	if t.access != nil && t.access.Value.Kind == source.TableKind {
		for _, key := range t.access.Value.Table.Entries {
			if hint := accessOff[key.Key]; hint != "" {
				r.report(diag.UnknownKey, key.At, key.Span, at+".access", "found "+key.Key+" in a maximum").Hint = hint
			}
		}
	}
	if v := e.Value.Table.Get("require_attestation"); v != nil {
		if t.requires = v.Bool; v.Kind != source.BoolKind {
			r.wrong(v, at+".require_attestation", "a boolean")
		}
	}
	if v := e.Value.Table.Get("accept"); v != nil {
		t.acceptAt = &v.At
		if v.Kind != source.ArrayKind {
			r.wrong(v, at+".accept", "an array of gaps")
		}
		for i, item := range v.Array {
			in := fmt.Sprintf("%s.accept[%d]", at, i)
			switch {
			case item.Kind != source.StringKind:
				r.wrong(item, in, "a string")
			case !ir.Gap(item.Text).Known():
				r.report(diag.UnknownAccept, item.At, item.Span, in, fmt.Sprintf("found %q", item.Text))
			default:
				t.accept = append(t.accept, ir.Acceptance{Gap: ir.Gap(item.Text),
					Origin: ir.Origin{Layer: ir.LayerUser, Pos: item.At, Path: in}})
			}
		}
	}
	r.m.tables = append(r.m.tables, t)
}
