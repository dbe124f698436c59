package format

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
)

// errShape is a document of which the parser reports another shape than it has.
var errShape = errors.New("the document cannot be laid out: its text is not what its parser says")

// bom is the byte order mark that editors on Windows write before UTF-8.
var bom = []byte("\xef\xbb\xbf")

// Text lays a document out. A finding is about a document that is no TOML; the name stands in it. The result ends its
// lines as the first line of the document does, and is the same when it is laid out again.
func Text(name string, text []byte) ([]byte, *diag.Diagnostic, error) {
	if _, finding := source.Parse(name, text); finding != nil {
		return nil, finding, nil
	}
	body, marked := bytes.CutPrefix(text, bom)
	tokens, err := read(body)
	if err != nil {
		return nil, nil, err
	}
	out := write(tokens, newline(body))
	again, err := read(out)
	if err != nil || !slices.EqualFunc(said(tokens), said(again), func(a, b token) bool {
		return a.kind == b.kind && a.text == b.text
	}) {
		return nil, nil, errShape
	}
	if _, finding := source.Parse(name, out); finding != nil {
		return nil, nil, errShape
	}
	if marked {
		out = append(slices.Clone(bom), out...)
	}
	return out, nil, nil
}

func newline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// kind is the kind of a token.
type kind uint8

const (
	leaf    kind = iota // a key or a scalar, as it is written
	mark                // one of [ ] { } , . =
	comment             // without the blanks at its end
	lineEnd
)

// token is a part of a document that is no blank.
type token struct {
	kind kind
	text string
	// column is how many characters stand before it on its line.
	column int
	// header is set for the parts of a table's header.
	header bool
}

// said are the tokens that are more than layout.
func said(tokens []token) []token {
	return slices.DeleteFunc(slices.Clone(tokens), func(t token) bool { return t.kind == lineEnd })
}

// span is the extent of a key or a scalar in bytes.
type span struct {
	start, end int
	header     bool
}

// read parts a document into tokens. The parser knows keys and scalars; between them are marks and comments alone.
func read(text []byte) ([]token, error) {
	leaves, err := leavesOf(text)
	if err != nil {
		return nil, err
	}
	var out []token
	at, lineStart := 0, 0
	column := func() int { return utf8.RuneCount(text[lineStart:at]) }
	for i := 0; i <= len(leaves); i++ {
		next := span{start: len(text), end: len(text)}
		if i < len(leaves) {
			next = leaves[i]
		}
		for at < next.start {
			switch c := text[at]; c {
			case ' ', '\t', '\r':
				at++
			case '\n':
				out = append(out, token{kind: lineEnd})
				at++
				lineStart = at
			case '#':
				end := at + max(bytes.IndexByte(text[at:], '\n'), 0)
				if end == at {
					end = len(text)
				}
				out = append(out, token{comment, strings.TrimRight(string(text[at:end]), " \t\r"), column(), false})
				at = end
			case '[', ']', '{', '}', ',', '.', '=':
				out = append(out, token{mark, string(c), column(), false})
				at++
			default:
				return nil, errShape
			}
		}
		if at != next.start {
			return nil, errShape // inside of a comment
		}
		if i < len(leaves) {
			out = append(out, token{leaf, string(text[at:next.end]), column(), next.header})
			if n := bytes.LastIndexByte(text[at:next.end], '\n'); n >= 0 {
				lineStart = at + n + 1
			}
			at = next.end
		}
	}
	return out, nil
}

// leavesOf returns the extents of all keys and scalars, in order.
func leavesOf(text []byte) ([]span, error) {
	var p unstable.Parser
	p.Reset(text)
	var out []span
	keys := func(n *unstable.Node, header bool) {
		for it := n.Key(); it.Next(); {
			raw := it.Node().Raw
			out = append(out, span{int(raw.Offset), int(raw.Offset + raw.Length), header})
		}
	}
	var value func(n *unstable.Node)
	value = func(n *unstable.Node) {
		//exhaustive:ignore
		switch n.Kind {
		case unstable.Array:
			for it := n.Children(); it.Next(); {
				value(it.Node())
			}
		case unstable.InlineTable:
			for it := n.Children(); it.Next(); {
				keys(it.Node(), false)
				value(it.Node().Value())
			}
		default:
			out = append(out, span{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length), false})
		}
	}
	for p.NextExpression() {
		n := p.Expression()
		keys(n, n.Kind != unstable.KeyValue)
		if n.Kind == unstable.KeyValue {
			value(n.Value())
		}
	}
	if err := p.Error(); err != nil {
		return nil, err
	}
	for i, s := range out {
		if s.start >= s.end || s.end > len(text) || i > 0 && s.start < out[i-1].end {
			return nil, errShape
		}
	}
	return out, nil
}
