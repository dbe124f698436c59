package backends

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
)

// lineWidth is the greatest width of an artifact's line in characters, where the values allow
// it.
const lineWidth = 100

// JSON writes v in the layout of artifacts: two blanks of indentation, a value that fits on one
// line is on one line, lists of plain values are filled line by line, and lists of objects have
// one object per line at most.
func JSON(v any) ([]byte, error) {
	return write(v, func(p *printer) {
		p.measure()
		p.value(0)
		p.out = append(p.out, '\n')
	})
}

// JSONAt writes v as it stands on a line of its own at a depth of another value in that layout.
func JSONAt(v any, depth int) ([]byte, error) {
	return write(v, func(p *printer) {
		p.measure()
		p.column = 2 * depth
		p.value(depth)
	})
}

// Compact writes v on one line, in the spelling of artifacts.
func Compact(v any) ([]byte, error) {
	return write(v, func(p *printer) { p.write(p.compact) })
}

func write(v any, layout func(*printer)) ([]byte, error) {
	p := printers.Get().(*printer)
	defer printers.Put(p)
	p.in.Reset()
	enc := json.NewEncoder(&p.in)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	p.compact = bytes.TrimSuffix(p.in.Bytes(), []byte("\n"))
	p.out, p.at, p.next, p.column = slices.Grow(p.out[:0], len(p.compact)+len(p.compact)/4), 0, 0, 0
	layout(p)
	if len(p.out) < largeText {
		return bytes.Clone(p.out), nil
	}
	out := p.out
	p.out = nil
	return out, nil
}

// largeText is the size in bytes from which a text is not copied out of the buffer in which it was laid out.
const largeText = 1 << 20

// printers keep their buffers: a build writes thousands of documents of about the same size.
var printers = sync.Pool{New: func() any { return &printer{} }}

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
	// start is the offset of the opening bracket, and after the index of the next list or object
	// that is not in this list or object.
	start, after int
}

// measure walks compact JSON once and describes every list and object, in the order in which
// they open.
func (p *printer) measure() {
	in := p.compact
	opening := bytes.Count(in, []byte("[")) + bytes.Count(in, []byte("{")) // those in strings are spare
	p.spans, p.open = slices.Grow(p.spans[:0], opening), p.open[:0]
	for i := 0; i < len(in); i++ {
		switch in[i] {
		case '"':
			i = stringEnd(in, i) - 1
		case ',', ':':
			if s := p.innermost(); s != nil {
				s.width++ // a blank follows on one line
			}
		case '[', '{':
			if outer := p.innermost(); outer != nil {
				outer.plain = false
				if in[i] == '{' && in[outer.start] == '[' {
					outer.objects++
				}
			}
			p.open = append(p.open, len(p.spans))
			p.spans = append(p.spans, span{start: i, plain: true})
		case ']', '}':
			s := p.innermost()
			p.open = p.open[:len(p.open)-1]
			s.end, s.after = i+1, len(p.spans)
			blanks := s.width
			s.width = blanks + s.end - s.start
			if outer := p.innermost(); outer != nil {
				outer.width += blanks
			}
		}
	}
}

// innermost is the list or object that is being measured, nil outside of all.
func (p *printer) innermost() *span {
	if len(p.open) == 0 {
		return nil
	}
	return &p.spans[p.open[len(p.open)-1]]
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
	in      bytes.Buffer
	compact []byte // the document in it
	spans   []span
	open    []int // those that are not yet closed, while they are measured
	out     []byte
	// at is the offset in compact, next the index of the next list or object there.
	at, next int
	// column is the position in the current line.
	column int
}

func (p *printer) write(b []byte) {
	p.out = append(p.out, b...)
	p.column += len(b)
}

func (p *printer) put(s string) {
	p.out = append(p.out, s...)
	p.column += len(s)
}

func (p *printer) newline(depth int) {
	p.out = append(p.out, '\n')
	for range depth {
		p.out = append(p.out, "  "...)
	}
	p.column = 2 * depth
}

// value writes the value at p.at.
func (p *printer) value(depth int) {
	c := p.compact[p.at]
	if c != '[' && c != '{' {
		p.scalar()
		return
	}
	s := &p.spans[p.next]
	p.next++
	switch {
	case s.objects < 2 && p.column+s.width <= lineWidth:
		p.line(s.end)
		p.next = s.after
	case c == '[' && s.plain:
		p.fill(s.end, depth)
	default:
		p.block(s.end, depth)
	}
}

func (p *printer) scalar() {
	end := p.scalarEnd()
	p.write(p.compact[p.at:end])
	p.at = end
}

// scalarEnd returns the offset behind the plain value at p.at.
func (p *printer) scalarEnd() int {
	if p.compact[p.at] == '"' {
		return stringEnd(p.compact, p.at)
	}
	end := p.at
	for end < len(p.compact) && p.compact[end] != ',' && p.compact[end] != ']' && p.compact[end] != '}' {
		end++
	}
	return end
}

// line writes everything up to end on the current line.
func (p *printer) line(end int) {
	in, before := p.compact[:end], len(p.out)
	from := p.at
	for i := p.at; i < end; {
		switch in[i] {
		case '"':
			i = stringEnd(in, i)
		case ',', ':':
			i++
			p.out = append(p.out, in[from:i]...)
			p.out = append(p.out, ' ')
			from = i
		default:
			i++
		}
	}
	p.out = append(p.out, in[from:]...)
	p.column += len(p.out) - before
	p.at = end
}

// fill writes a list of plain values, as many on a line as fit.
func (p *printer) fill(end, depth int) {
	p.put("[")
	p.at++
	p.newline(depth + 1)
	for first := true; p.at < end-1; first = false {
		item := p.compact[p.at:p.scalarEnd()]
		p.at += len(item)
		switch {
		case first:
		case p.column+len(" ,")+len(item) > lineWidth:
			p.newline(depth + 1)
		default:
			p.put(" ")
		}
		p.write(item)
		p.comma()
	}
	p.newline(depth)
	p.put("]")
	p.at = end
}

// comma writes the comma between two members.
func (p *printer) comma() {
	if p.compact[p.at] == ',' {
		p.put(",")
		p.at++
	}
}

// block writes a list or object with a member per line.
func (p *printer) block(end, depth int) {
	object := p.compact[p.at] == '{'
	p.write(p.compact[p.at : p.at+1])
	p.at++
	for p.at < end-1 {
		p.newline(depth + 1)
		if object {
			p.scalar()
			p.put(": ")
			p.at++
		}
		p.value(depth + 1)
		p.comma()
	}
	p.newline(depth)
	p.write(p.compact[end-1 : end])
	p.at = end
}
