package credential

import (
	"bytes"
	"fmt"
)

// A form is a text in which an answer may show the value, and the same text of the stand-in.
type form struct{ value, standIn []byte }

// widest is how many bytes of an answer may show one byte of a form, on the average over the form.
const widest = 12

// A step is the reading of one byte of a form: the cells where it begins and ends, and the step before it.
type step struct{ at, end, before int }

// A trail is where a text shows a form, byte by byte, each as it stands or escaped. It is used for one text after
// another, to have its memory again.
type trail struct {
	text  []cell
	other []cell // as text, for the next layer
	steps []step
	fold  bool  // in any case
	limit int32 // where in the bytes of the text the form has to end
}

// deeper takes one more layer of escapes away from a text, of which some may have changed.
func (t *trail) deeper(b []byte, depth int, changed bool) (more bool) {
	layers := 1
	if changed {
		t.text, layers = plain(t.text[:0], b), depth+1
	}
	for range layers {
		t.other, more = decoded(t.other[:0], t.text)
		t.text, t.other = t.other, t.text
	}
	return more
}

// follow looks for a form that begins at a cell. All readings are followed at once: their number does not grow with
// the form, since those that end at one place are one.
func (t *trail) follow(at int, f form) (last int, ok bool) {
	t.steps, t.limit = t.steps[:0], t.text[at].at+int32(len(f.value)*widest)
	t.step(at, f.value[0], -1, 0)
	if len(t.steps) == 0 {
		return 0, false
	}
	if len(f.value) > 1 && !t.fold && t.steps[0].end < len(t.text) && !t.near(t.steps[0].end, f.value[1]) {
		return 0, false
	}
	level := 0
	for _, want := range f.value[1:] {
		began := len(t.steps)
		if end := t.steps[level].end; began-level == 1 && t.stands(end, want) {
			t.steps, level = append(t.steps, step{end, end + 1, level}), began // as most texts do
			continue
		}
		for before := level; before < began; before++ {
			var room [8]int
			for _, place := range broken(room[:0], t.text, t.steps[before].end) {
				t.step(place, want, before, began)
			}
		}
		if level = began; len(t.steps) == began {
			return 0, false
		}
	}
	return len(t.steps) - 1, true
}

// near reports whether a byte can follow at a place, at a glance.
func (t *trail) near(at int, want byte) bool {
	c := t.text[at].c
	return c == want || escapes(c) || lineBreak(c) || len(t.steps) > 1
}

// stands reports whether a byte stands at a place and can be nothing else.
func (t *trail) stands(at int, want byte) bool {
	return at < len(t.text) && t.text[at].c == want && !escapes(want) && t.text[at].end <= t.limit
}

// step adds the readings of a place that are the wanted byte, unless one of this level ends at the same place.
func (t *trail) step(at int, want byte, before, level int) {
	if at >= len(t.text) {
		return
	}
	t.add(t.text[at].c, want, step{at, at + 1, before}, level)
	if escapes(t.text[at].c) {
		if c, end, ok := escape(t.text, at); ok {
			t.add(c, want, step{at, end, before}, level)
		}
	}
}

func (t *trail) add(c, want byte, s step, level int) {
	if c != want && (!t.fold || lower(c) != lower(want)) || t.text[s.end-1].end > t.limit {
		return
	}
	for _, have := range t.steps[level:] {
		if have.end == s.end {
			return
		}
	}
	t.steps = append(t.steps, s)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// cover puts the stand-in where the trail has led, in the same escapes.
func (t *trail) cover(b []byte, last int, f form) {
	small, known := false, false
	for j, i := len(f.value)-1, last; i >= 0 && !known; j, i = j-1, t.steps[i].before {
		text := t.shown(b, i)
		small = text[0] != '%'
		if n := hexadecimal(text, f.value[j]); n != nil && !bytes.Equal(bytes.ToUpper(n), bytes.ToLower(n)) {
			small, known = bytes.Equal(n, bytes.ToLower(n)), true
		}
	}
	for j, i := len(f.value)-1, last; i >= 0; j, i = j-1, t.steps[i].before {
		if f.value[j] != f.standIn[j] {
			put(t.shown(b, i), f.value[j], f.standIn[j], small)
		}
	}
}

// shown is the text of a step.
func (t *trail) shown(b []byte, i int) []byte {
	return b[t.text[t.steps[i].at].at:t.text[t.steps[i].end-1].end]
}

// hexadecimal is the last number in an escape that is the byte, nil if there is none.
func hexadecimal(text []byte, c byte) []byte {
	if i := bytes.LastIndex(bytes.ToLower(text), fmt.Appendf(nil, "%02x", c)); len(text) > 2 && i >= 0 {
		return text[i : i+2]
	}
	return nil
}

// put replaces one byte. Where its escape has no room for another byte, asterisks take its place.
func put(text []byte, old, c byte, small bool) {
	switch n := hexadecimal(text, old); {
	case len(text) == 1:
		text[0] = c
	case n != nil && small:
		copy(n, fmt.Sprintf("%02x", c))
	case n != nil:
		copy(n, fmt.Sprintf("%02X", c))
	default:
		number := fmt.Append(nil, old)
		copy(text, bytes.ReplaceAll(text, number, fmt.Appendf(nil, "%0*d", len(number), c)))
	}
	s, changed := plain(nil, text), true
	for changed && len(s) > 1 {
		s, changed = decoded(nil, s)
	}
	if len(s) == 1 && s[0].c == c {
		return
	}
	if got, end, ok := escape(s, 0); !ok || got != c || end != len(s) {
		copy(text, bytes.Repeat([]byte("*"), len(text)))
	}
}
