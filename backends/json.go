package backends

import (
	"bytes"
	"encoding/json"
	"strings"
)

// lineWidth is the greatest width of an artifact's line in characters, where the values allow
// it.
const lineWidth = 100

// JSON writes v in the layout of artifacts: two blanks of indentation, a value that fits on one
// line is on one line, lists of plain values are filled line by line, and lists of objects have
// one object per line at most.
func JSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	compact := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	p := printer{in: compact, spans: measure(compact)}
	p.value(0)
	p.out.WriteByte('\n')
	return p.out.Bytes(), nil
}

// span is the extent of a list or object, known before it is written.
type span struct {
	// end is the offset behind the closing bracket.
	end int
	// width is its length on one line.
	width int
	// plain is true when it contains no other list or object.
	plain bool
	// objects counts the objects directly in a list.
	objects int
}

// measure walks compact JSON once and describes every list and object by the
// offset at which it opens.
func measure(in []byte) map[int]*span {
	spans := map[int]*span{}
	var stack []int
	for i := 0; i < len(in); i++ {
		switch in[i] {
		case '"':
			i = stringEnd(in, i) - 1
		case ',', ':':
			if len(stack) > 0 {
				// A blank follows on one line.
				spans[stack[len(stack)-1]].width++
			}
		case '[', '{':
			if n := len(stack); n > 0 {
				outer := spans[stack[n-1]]
				outer.plain = false
				if in[i] == '{' && in[stack[n-1]] == '[' {
					outer.objects++
				}
			}
			spans[i] = &span{plain: true}
			stack = append(stack, i)
		case ']', '}':
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			s := spans[at]
			s.end = i + 1
			blanks := s.width
			s.width = blanks + s.end - at
			if len(stack) > 0 {
				spans[stack[len(stack)-1]].width += blanks
			}
		}
	}
	return spans
}

// stringEnd returns the offset behind the string that starts at i.
func stringEnd(in []byte, i int) int {
	for i++; in[i] != '"'; i++ {
		if in[i] == '\\' {
			i++
		}
	}
	return i + 1
}

type printer struct {
	in    []byte
	spans map[int]*span
	out   bytes.Buffer
	at    int
	// column is the position in the current line.
	column int
}

func (p *printer) write(b []byte) {
	p.out.Write(b)
	p.column += len(b)
}

func (p *printer) newline(depth int) {
	p.out.WriteByte('\n')
	p.out.WriteString(strings.Repeat("  ", depth))
	p.column = 2 * depth
}

// value writes the value at p.at.
func (p *printer) value(depth int) {
	c := p.in[p.at]
	if c != '[' && c != '{' {
		p.scalar()
		return
	}
	s := p.spans[p.at]
	switch {
	case s.objects < 2 && p.column+s.width <= lineWidth:
		p.line(s.end)
	case c == '[' && s.plain:
		p.fill(s.end, depth)
	default:
		p.block(s.end, depth)
	}
}

func (p *printer) scalar() {
	end := p.scalarEnd()
	p.write(p.in[p.at:end])
	p.at = end
}

// scalarEnd returns the offset behind the plain value at p.at.
func (p *printer) scalarEnd() int {
	if p.in[p.at] == '"' {
		return stringEnd(p.in, p.at)
	}
	end := p.at
	for end < len(p.in) && strings.IndexByte(",]}", p.in[end]) < 0 {
		end++
	}
	return end
}

// line writes everything up to end on the current line.
func (p *printer) line(end int) {
	for p.at < end {
		if p.in[p.at] == '"' {
			p.scalar()
			continue
		}
		p.write(p.in[p.at : p.at+1])
		if c := p.in[p.at]; c == ',' || c == ':' {
			p.write([]byte(" "))
		}
		p.at++
	}
}

// fill writes a list of plain values, as many on a line as fit.
func (p *printer) fill(end, depth int) {
	p.write([]byte("["))
	p.at++
	p.newline(depth + 1)
	for first := true; p.at < end-1; first = false {
		item := p.in[p.at:p.scalarEnd()]
		p.at += len(item)
		switch {
		case first:
		case p.column+len(" ,")+len(item) > lineWidth:
			p.newline(depth + 1)
		default:
			p.write([]byte(" "))
		}
		p.write(item)
		p.comma()
	}
	p.newline(depth)
	p.write([]byte("]"))
	p.at = end
}

// comma writes the comma between two members.
func (p *printer) comma() {
	if p.in[p.at] == ',' {
		p.write([]byte(","))
		p.at++
	}
}

// block writes a list or object with one member per line.
func (p *printer) block(end, depth int) {
	object := p.in[p.at] == '{'
	p.write(p.in[p.at : p.at+1])
	p.at++
	for p.at < end-1 {
		p.newline(depth + 1)
		if object {
			p.scalar()
			p.write([]byte(": "))
			p.at++
		}
		p.value(depth + 1)
		p.comma()
	}
	p.newline(depth)
	p.write(p.in[end-1 : end])
	p.at = end
}
