package source

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir"
)

// Parse reads a text that need not be a file, the way a layer is read. Positions and findings
// use name for the file.
func Parse(name string, data []byte) (*Table, *diag.Diagnostic) {
	_, t, err := ParseFile(name, data)
	return t, err
}

// ParseFile is Parse, and returns the text for quoting lines of it as well.
func ParseFile(name string, data []byte) (*File, *Table, *diag.Diagnostic) {
	f := newFile(name, "", data)
	if err := checkText(f); err != nil {
		return f, nil, err
	}
	t, err := parse(f)
	return f, t, err
}

// parse turns a file into its root table. This file and tree.go are the only files that know the parser: it yields
// expressions without meaning, and tree.go applies TOML's rules about defining a table twice.
func parse(f *File) (*Table, *diag.Diagnostic) {
	var p unstable.Parser
	p.Reset(f.Data)
	b := builder{file: f, parser: &p, root: &Value{Kind: TableKind, Table: &Table{}, made: byHeader}}
	b.section = b.root
	for p.NextExpression() {
		if err := b.expression(p.Expression()); err != nil {
			return nil, err
		}
	}
	if err := p.Error(); err != nil {
		return nil, b.syntax(err)
	}
	return b.root.Table, nil
}

// syntax places an error of the parser.
func (b *builder) syntax(err error) *diag.Diagnostic {
	d := diag.New(diag.BadTOML, ir.Pos{File: b.file.Name}, 0)
	d.Label = err.Error()
	var pe *unstable.ParserError
	if errors.As(err, &pe) {
		d.Label = pe.Message
		if off, ok := b.offset(pe.Highlight); ok {
			d.At, d.Span = b.file.Pos(off), max(len(pe.Highlight), 1)
			if bytes.HasPrefix(b.file.Data[max(off-1, 0):], []byte(".*")) {
				d.Hint = "the defaults of all tools are '*', in quotation marks"
			}
		}
	}
	return &d
}

// offset finds a slice of the input in it. The parser highlights the end of the
// input by an empty slice behind it.
func (b *builder) offset(part []byte) (off int, ok bool) {
	if cap(part) == 0 {
		return len(b.file.Data), true
	}
	off = cap(b.file.Data) - cap(part)
	return off, off >= 0 && off <= len(b.file.Data)
}

// value converts a value node. from is where the value starts at the earliest,
// which places arrays: the parser records no position for them.
func (b *builder) value(n *unstable.Node, from int) (*Value, *diag.Diagnostic) {
	v := &Value{}
	start := int(n.Raw.Offset)
	if n.Raw.Length == 0 {
		start = b.skipTo(from)
	}
	v.At, v.Span = b.file.Pos(start), max(int(n.Raw.Length), 1)
	raw := string(b.parser.Raw(n.Raw))
	v.Text = raw
	switch n.Kind {
	case unstable.Array:
		v.Kind = ArrayKind
		return v, b.array(v, n, start+1)
	case unstable.InlineTable:
		v.Kind, v.Table, v.made = TableKind, &Table{}, byInline
		return v, b.inline(v, n)
	case unstable.String:
		v.Kind, v.Text = StringKind, string(n.Data)
	case unstable.Bool:
		v.Kind, v.Bool = BoolKind, raw == "true"
	case unstable.Integer:
		v.Kind = IntegerKind
		return v, b.integer(v, raw)
	case unstable.Float:
		v.Kind = FloatKind
	case unstable.LocalDate, unstable.LocalTime, unstable.LocalDateTime, unstable.DateTime:
		v.Kind = TimeKind
	default:
		d := diag.New(diag.BadTOML, v.At, v.Span)
		d.Label = fmt.Sprintf("found an unexpected %v", n.Kind)
		return nil, &d
	}
	return v, nil
}

func (b *builder) integer(v *Value, raw string) *diag.Diagnostic {
	n, err := strconv.ParseInt(strings.TrimPrefix(raw, "+"), 0, 64)
	if err != nil && strings.Trim(raw, "+-0123456789_") == "" {
		// TOML forbids leading zeros, so base 10 is the only other reading.
		n, err = strconv.ParseInt(strings.ReplaceAll(raw, "_", ""), 10, 64)
	}
	if err != nil {
		d := diag.New(diag.BadTOML, v.At, v.Span)
		d.Label = "found an integer that does not fit into 64 bits"
		return &d
	}
	v.Int = n
	return nil
}

func (b *builder) array(v *Value, n *unstable.Node, from int) *diag.Diagnostic {
	for it := n.Children(); it.Next(); {
		c := it.Node()
		if c.Kind == unstable.Comment {
			continue
		}
		item, err := b.value(c, from)
		if err != nil {
			return err
		}
		v.Array = append(v.Array, item)
		from = b.end(c, from)
	}
	return nil
}

func (b *builder) inline(v *Value, n *unstable.Node) *diag.Diagnostic {
	for it := n.Children(); it.Next(); {
		if kv := it.Node(); kv.Kind == unstable.KeyValue {
			if err := b.keyValue(v, kv); err != nil {
				return err
			}
		}
	}
	return nil
}

// skipTo returns the offset of the next "[" at or after from that is not in a
// comment: where an array without a recorded position opens.
func (b *builder) skipTo(from int) int {
	data := b.file.Data
	for i := from; i < len(data); i++ {
		switch data[i] {
		case '[':
			return i
		case '#':
			for i < len(data) && data[i] != '\n' {
				i++
			}
		}
	}
	return min(from, len(data))
}

// end returns an offset behind everything that n recorded.
func (b *builder) end(n *unstable.Node, from int) int {
	from = max(from, int(n.Raw.Offset+n.Raw.Length))
	if n.Kind == unstable.Array && n.Child() == nil {
		return b.skipTo(from) + 1
	}
	for it := n.Children(); it.Next(); {
		from = b.end(it.Node(), from)
	}
	return from
}
