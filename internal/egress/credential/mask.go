package credential

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// A Mask puts stand-ins where answers show a value: as it is, in base64 or in hexadecimal, where every byte may be
// escaped by itself and lines may break. Each stand-in has the length of the text that it replaces, so answers keep
// theirs. See decision D116.
type Mask struct {
	forms []form // the longest first
	// begin are the forms that begin with a byte.
	begin [256][]int
	// candidate says whether a form or an escape can begin with a byte.
	candidate [256]bool
	longest   int // the most cells that show a form and count
}

// Mask is the mask of a value that requests carry with these users.
func (s Secret) Mask(users ...string) *Mask {
	m := &Mask{}
	for _, encode := range encodings(users) {
		f := form{[]byte(encode(s.Value)), []byte(encode(s.StandIn))}
		if !slices.ContainsFunc(m.forms, func(o form) bool { return bytes.Equal(o.value, f.value) }) {
			m.forms = append(m.forms, f)
		}
	}
	// A longer form may hold a shorter form.
	slices.SortStableFunc(m.forms, func(a, b form) int { return len(b.value) - len(a.value) })
	for i, f := range m.forms {
		m.begin[f.value[0]] = append(m.begin[f.value[0]], i)
	}
	for c := range m.candidate {
		m.candidate[c] = escapes(byte(c)) || m.begin[c] != nil
	}
	m.longest = len(m.forms[0].value) * widest
	return m
}

// encodings are the forms in which servers show a value that they were sent, escapes apart. Each has one length for
// all values of one length.
func encodings(users []string) []func([]byte) string {
	out := []func([]byte) string{
		func(b []byte) string { return string(b) },
		hex.EncodeToString, func(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) },
	}
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		out = append(out, alphabet.EncodeToString)
		for _, user := range users {
			out = append(out, func(b []byte) string { return alphabet.EncodeToString([]byte(user + ":" + string(b))) })
		}
		for before := range 3 {
			out = append(out, func(b []byte) string { return within(alphabet, before, b) })
		}
	}
	return out
}

// within is the part of an encoded text that a value in it determines by itself, with a number
// of bytes before it that leaves a remainder of 3.
func within(alphabet *base64.Encoding, before int, b []byte) string {
	text := append(make([]byte, before, before+len(b)), b...)
	return alphabet.EncodeToString(text)[(before*8+5)/6 : len(text)*8/6]
}

// Replace puts stand-ins into a text.
func (m *Mask) Replace(b []byte) { m.replace(&trail{}, b, len(b)) }

// replace puts stand-ins where values begin before a place.
func (m *Mask) replace(t *trail, b []byte, end int) {
	m.search(t, b, func(last int, f form) bool {
		if int(t.text[t.steps[0].at].at) < end {
			t.cover(b, last, f)
		}
		return true
	})
}

// search finds the value in a text, in one layer of escapes after another, until found returns false.
func (m *Mask) search(t *trail, b []byte, found func(last int, f form) bool) {
	t.begin(b)
	for depth := 0; ; depth++ {
		hit := false
		for at := 0; at < len(t.text); {
			if !m.candidate[t.text[at].c] && !t.fold {
				at++
				continue
			}
			f, last, ok := m.at(t, at)
			switch {
			case !ok:
				at++
			case !found(last, f):
				return
			default:
				hit = true
				at = t.steps[last].end
			}
		}
		if depth == deepest || !bytes.ContainsAny(b, `%\&`) || !t.deeper(b, depth, hit) {
			return
		}
	}
}

// at is the form that begins at a cell.
func (m *Mask) at(t *trail, at int) (f form, last int, ok bool) {
	c := t.text[at].c
	f, last, ok = m.beginning(t, at, c)
	if ok || !escapes(c) {
		return f, last, ok
	}
	var room [most]reading
	for i, r := range readings(room[:0], t.text, at) {
		if r.c == c || i > 0 && r.c == room[i-1].c {
			continue
		}
		if f, last, ok = m.beginning(t, at, r.c); ok {
			break
		}
	}
	return f, last, ok
}

// beginning is the form that begins at a cell with a byte.
func (m *Mask) beginning(t *trail, at int, c byte) (f form, last int, ok bool) {
	if t.fold {
		c = lower(c)
	}
	for _, i := range m.begin[c] {
		if last, ok := t.follow(at, m.forms[i]); ok {
			return m.forms[i], last, true
		}
	}
	if upper := c - 'a' + 'A'; t.fold && 'a' <= c && c <= 'z' {
		for _, i := range m.begin[upper] {
			if last, ok := t.follow(at, m.forms[i]); ok {
				return m.forms[i], last, true
			}
		}
	}
	return f, 0, false
}

// Shows reports whether a text shows the value.
func (m *Mask) Shows(s string) bool { return m.shows(&trail{}, s) }

func (m *Mask) shows(t *trail, s string) (out bool) {
	m.search(t, []byte(s), func(int, form) bool {
		out = true
		return false
	})
	return out
}

// Header puts stand-ins into the values of a header, and leaves out fields whose names show a value,
// in whatever case they are written. The parser has blanks for line breaks of a value (RFC 9112, 5.2).
func (m *Mask) Header(h map[string][]string) {
	for name, values := range h {
		if m.shows(&trail{fold: true, folded: true}, name) {
			delete(h, name)
			continue
		}
		for i, v := range values {
			if m.shows(&trail{folded: true}, v) {
				b := []byte(v)
				m.replace(&trail{folded: true}, b, len(b))
				values[i] = string(b)
			}
		}
	}
}
