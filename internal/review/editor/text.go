package editor

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/accessc/accessc/ir"
)

// text is the text of a document, with the places where its lines begin. Lines end as the protocol says: by \n, \r\n or
// \r ("Text Documents").
type text struct {
	data  []byte
	lines []int
	// utf8 is set where characters of positions are bytes, not UTF-16 code units.
	utf8 bool
}

func newText(data []byte, inBytes bool) *text {
	t := &text{data: data, lines: []int{0}, utf8: inBytes}
	for i, c := range data {
		if c == '\n' || c == '\r' && (i+1 == len(data) || data[i+1] != '\n') {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// end returns where a line ends, without its ending.
func (t *text) end(line int) int {
	if line+1 == len(t.lines) {
		return len(t.data)
	}
	end := t.lines[line+1] - 1
	if end > t.lines[line] && t.data[end] == '\n' && t.data[end-1] == '\r' {
		end--
	}
	return end
}

// offset returns the byte of a position. A position behind the end of a line, or inside of a character, counts as the
// end, or as the character; one behind the last line as the end of the text.
func (t *text) offset(p position) int {
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= len(t.lines):
		return len(t.data)
	}
	at, end := t.lines[p.Line], t.end(p.Line)
	for left := p.Character; left > 0 && at < end; {
		_, size := utf8.DecodeRune(t.data[at:end])
		if left -= t.units(size); left < 0 {
			break
		}
		at += size
	}
	return at
}

// units is how far a character of some bytes moves a position. UTF-16 has two units for characters outside of the basic
// plane, which have four bytes in UTF-8.
func (t *text) units(size int) int {
	switch {
	case t.utf8:
		return size
	case size == utf8.UTFMax:
		return 2
	default:
		return 1
	}
}

// position is the inverse of offset.
func (t *text) position(offset int) position {
	offset = max(0, min(offset, len(t.data)))
	low, high := 0, len(t.lines)
	for high-low > 1 {
		if mid := (low + high) / 2; t.lines[mid] <= offset {
			low = mid
		} else {
			high = mid
		}
	}
	p := position{Line: low}
	for at := t.lines[low]; at < min(offset, t.end(low)); {
		_, size := utf8.DecodeRune(t.data[at:])
		p.Character += t.units(size)
		at += size
	}
	return p
}

func (t *text) span(start, end int) span { return span{t.position(start), t.position(end)} }

// whole is the extent of the text.
func (t *text) whole() span { return t.span(0, len(t.data)) }

var errRange = errors.New("the range ends before it starts")

// replaced returns the text after a change, and the bytes that the change replaced.
func (t *text) replaced(c change) (out *text, start, end int, err error) {
	if c.Range == nil {
		return newText([]byte(c.Text), t.utf8), 0, len(t.data), nil
	}
	start, end = t.offset(c.Range.Start), t.offset(c.Range.End)
	if start > end {
		return nil, 0, 0, errRange
	}
	data := make([]byte, 0, len(t.data)-(end-start)+len(c.Text))
	data = append(append(append(data, t.data[:start]...), c.Text...), t.data[end:]...)
	return newText(data, t.utf8), start, end, nil
}

// bom is the mark of the byte order, which the compiler does not count.
const bom = "\ufeff"

// find returns the bytes that a finding of the compiler marks, within its line. The compiler ends lines at \n alone,
// and counts characters.
func (t *text) find(at ir.Pos, marked int) (start, end int) {
	if at.Line < 1 {
		return 0, 0
	}
	if bytes.HasPrefix(t.data, []byte(bom)) {
		start = len(bom)
	}
	for range at.Line - 1 {
		n := bytes.IndexByte(t.data[start:], '\n')
		if n < 0 {
			return len(t.data), len(t.data)
		}
		start += n + 1
	}
	end = len(t.data)
	if n := bytes.IndexByte(t.data[start:], '\n'); n >= 0 {
		end = start + n
	}
	end = start + len(bytes.TrimSuffix(t.data[start:end], []byte("\r")))
	for n := 1; n < at.Col && start < end; n++ {
		_, size := utf8.DecodeRune(t.data[start:end])
		start += size
	}
	return start, min(start+max(marked, 0), end)
}
