package credential

import (
	"bytes"
	"slices"
	"strings"
)

// A kind of runs says which escapes count.
const (
	certain = iota // those that nothing else looks like
	likely         // as well as the plus sign and the equals sign, of which values are made
	kinds
)

// marks are the bytes that belong to a run and are parts of values as well: before a line break the
// marks of quoted-printable and of shells, and the plus sign for a blank.
// See decision D116.
const marks = "=\\+"

// mark is where the first byte of a run is that may be the value's: the bytes behind it then belong to the rest of the
// run.
func (t *trail) mark(kind, i int, want byte) (at int, ok bool) {
	m := strings.IndexByte(marks, want)
	if m < 0 || kind != likely {
		return 0, false
	}
	at = int(t.first[i][m]) - 1
	return at, at >= 0
}

// run is the end of the run of line breaks and blanks at a place, and whether there is a break in it. Every place is
// looked at once in a layer.
func (t *trail) run(kind, i int) (end int, ok bool) {
	if i >= len(t.text) || !t.pause(t.text[i].c) {
		return i, false
	}
	if t.runs[kind] = slices.Grow(t.runs[kind][:0], len(t.text))[:len(t.text)]; !t.known[kind] {
		clear(t.runs[kind])
		t.known[kind] = true
	}
	t.first = slices.Grow(t.first[:0], len(t.text))[:len(t.text)]
	memory := t.runs[kind]
	t.path = t.path[:0]
	var first [len(marks)]int32
	broken := false
	for end = i; end < len(t.text); {
		if m := memory[end]; m != 0 {
			first = t.first[end]
			end, broken = int(m>>1)-1, m&1 != 0
			break
		}
		c, next := t.element(kind, end)
		if next == end {
			break
		}
		t.path = append(t.path, step{at: end, end: int(c)})
		end = next
	}
	for _, s := range slices.Backward(t.path) {
		broken = broken || lineBreak(byte(s.end)) || t.folded
		memory[s.at] = int32(end+1) << 1
		if broken {
			memory[s.at] |= 1
		}
		if kind == likely {
			if m := strings.IndexByte(marks, t.text[s.at].c); m >= 0 && t.alone(s.at) {
				first[m] = int32(s.at) + 1
			}
			t.first[s.at] = first
		}
	}
	return end, broken
}

// alone reports whether a mark is an element of a run by itself, and not the beginning of an escape.
func (t *trail) alone(i int) bool {
	_, next := t.element(likely, i)
	return next == i+1
}

// pause reports whether a run can begin with a byte.
func (t *trail) pause(c byte) bool { return c <= ' ' || escapes(c) }

// element is a line break or a blank at a place, and what is behind it. The marks that quoted-printable and shells
// have before a line break belong to it.
func (t *trail) element(kind, i int) (c byte, next int) {
	switch c = t.text[i].c; {
	case lineBreak(c), blank(c):
		return c, i + 1
	case (c == '=' || c == '\\') && i+1 < len(t.text) && lineBreak(t.text[i+1].c):
		return '\n', i + 1
	case kind == certain && (c == '=' || c == '+') || !escapes(c):
		return 0, i
	}
	var room [most]reading
	for _, r := range readings(room[:0], t.text, i) {
		if lineBreak(r.c) || blank(r.c) {
			return r.c, r.end
		}
	}
	return 0, i
}

// maxHeld bounds how much of an answer waits because of runs and escapes that are long.
const maxHeld = 1 << 20

// settled is how many of the first bytes of a text hold no beginning of a value that may go on behind it. It depends
// on no value: runs and the rest of long escapes count for nothing, other bytes alike.
func (m *Mask) settled(t *trail, b []byte) int {
	for size := 2 * m.longest; len(b) >= m.longest; size *= 2 {
		from := max(0, len(b)-size)
		first := len(b)
		t.begin(b[from:])
		for depth := 0; ; depth++ {
			first = min(first, from+t.enough(m.longest-1))
			if depth == deepest || !bytes.ContainsAny(b[from:], `%\&`) || !t.deeper(b[from:], depth, false) {
				break
			}
		}
		if first > from+longestName {
			return first
		}
		if from == 0 || size > m.longest+maxHeld {
			return max(first, len(b)-m.longest-maxHeld, 0)
		}
	}
	return 0
}

// enough is the place in the bytes of a text behind which so many cells are that count.
func (t *trail) enough(count int) int {
	t.light = slices.Grow(t.light[:0], len(t.text))[:len(t.text)]
	clear(t.light)
	for i, c := range t.text {
		switch {
		case c.c <= ' ', c.c == '0' && i > 0 && t.text[i-1].c == '0':
			t.light[i] = true
		case escapes(c.c):
			t.lighten(i)
		}
	}
	for i := len(t.text) - 1; i >= 0; i-- {
		if t.light[i] {
			continue
		}
		if count--; count < 0 {
			return int(t.text[i].at) + 1
		}
	}
	return 0
}

// lighten marks the cells of an escape that do not count.
func (t *trail) lighten(i int) {
	if next := i + 1; next < len(t.text) && lineBreak(t.text[next].c) {
		t.light[i] = true
	}
	var room [most]reading
	for _, r := range readings(room[:0], t.text, i) {
		from := i + widest
		if lineBreak(r.c) || blank(r.c) {
			from = i
		}
		for j := from; j < r.end; j++ {
			t.light[j] = true
		}
	}
}
