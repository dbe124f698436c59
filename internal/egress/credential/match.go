package credential

import (
	"bytes"
	"fmt"
	"slices"
)

// A form is a text in which an answer may show the value, and the same text of the stand-in.
type form struct{ value, standIn []byte }

// widest is how many bytes of a layer may show one byte of a form, on the average over the form, apart from runs of
// line breaks and blanks and from what makes an escape longer.
const widest = 12

// A step is the reading of one byte of a form: the cells where it begins and ends, and the step before it.
type step struct{ at, end, before int }

// A trail is where a text shows a form, byte by byte, each as it stands or escaped. It is used for one text after
// another, to have its memory again.
type trail struct {
	text  []cell
	other []cell // as text, for the next layer
	steps []step
	fold  bool // in any case
	// folded says that a blank may have been a line break.
	folded bool

	runs  [kinds][]int32 // where runs end that begin at a cell, and whether they have a break
	known [kinds]bool    // of this layer
	// first has where the marks of a run stand at or behind a cell of it, plus 1, by the order of marks.
	first [][len(marks)]int32
	path  []step // of the run that is looked at
	light []bool // cells that do not count
}

// begin takes another text.
func (t *trail) begin(b []byte) { t.text, t.known = plain(t.text[:0], b), [kinds]bool{} }

// deeper takes one more layer of escapes away from a text, of which some may have changed.
func (t *trail) deeper(b []byte, depth int, changed bool) (more bool) {
	layers := 1
	if changed {
		t.begin(b)
		layers = depth + 1
	}
	t.known = [kinds]bool{}
	for range layers {
		t.other, more = decoded(t.other[:0], t.text)
		t.text, t.other = t.other, t.text
	}
	return more
}

// follow looks for a form that begins at a cell. All readings are followed at once: their number does not grow with
// the form, since readings that end at the same place count once.
func (t *trail) follow(at int, f form) (last int, ok bool) {
	t.steps = t.steps[:0]
	t.step(at, f.value[0], -1, 0)
	if len(t.steps) == 0 {
		return 0, false
	}
	if len(f.value) > 1 && !t.fold && t.steps[0].end < len(t.text) && !t.near(t.steps[0].end, f.value[1]) {
		return 0, false
	}
	level := 0
	for i, want := range f.value[1:] {
		i++
		began := len(t.steps)
		if end := t.steps[level].end; began-level == 1 && t.stands(end, want) {
			t.steps, level = append(t.steps, step{end, end + 1, level}), began // as most texts do
			continue
		}
		for before := level; before < began; before++ {
			t.behind(f.value, i, before, began)
		}
		if level = began; len(t.steps) == began {
			return 0, false
		}
	}
	return len(t.steps) - 1, true
}

// behind adds the readings of a byte behind a step, and behind the line breaks and blanks that are there. Where a line
// breaks, blanks of the value may be left out.
func (t *trail) behind(value []byte, i, before, level int) {
	want, place := value[i], t.steps[before].end
	t.step(place, want, before, level)
	for kind := range kinds {
		end, ok := t.run(kind, place)
		if !ok {
			continue
		}
		if t.step(end, want, before, level); want == ' ' {
			t.add(' ', ' ', step{place, end, before}, level)
		}
		if want == '+' { // which a run can end with
			t.step(max(place, end-len(value[i:])+len(bytes.TrimLeft(value[i:], "+"))), want, before, level)
		}
		if at, ok := t.mark(kind, place, want); ok {
			t.step(at, want, before, level)
		}
	}
	if want == ' ' && value[i-1] == ' ' {
		t.add(' ', ' ', step{place, place, before}, level)
	}
}

// near reports whether a byte can follow at a place, at a glance.
func (t *trail) near(at int, want byte) bool {
	c := t.text[at].c
	return c == want || want == ' ' || t.pause(c) || len(t.steps) > 1
}

// stands reports whether a byte stands at a place and can be nothing else.
func (t *trail) stands(at int, want byte) bool {
	return at < len(t.text) && t.text[at].c == want && !escapes(want) && want != ' '
}

// step adds the readings of a place that are the wanted byte, unless a reading of this level ends at the same
// place.
func (t *trail) step(at int, want byte, before, level int) {
	if at >= len(t.text) {
		return
	}
	t.add(t.text[at].c, want, step{at, at + 1, before}, level)
	if escapes(t.text[at].c) {
		var room [most]reading
		for _, r := range readings(room[:0], t.text, at) {
			t.add(r.c, want, step{at, r.end, before}, level)
		}
	}
}

func (t *trail) add(c, want byte, s step, level int) {
	if c != want && (!t.fold || lower(c) != lower(want)) {
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
		small = len(text) > 0 && text[0] != '%'
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
	s := t.steps[i]
	if s.at == s.end {
		return nil
	}
	return b[t.text[s.at].at:t.text[s.end-1].end]
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
	for range deepest {
		if !changed || len(s) < 2 || slices.Contains(readings(nil, s, 0), reading{c, len(s)}) {
			break
		}
		s, changed = decoded(nil, s)
	}
	var room [most]reading
	if len(s) == 1 && s[0].c == c {
		return
	}
	all := readings(room[:0], s, 0)
	if !slices.Contains(all, reading{c, len(s)}) || slices.Contains(all, reading{old, len(s)}) {
		copy(text, bytes.Repeat([]byte("*"), len(text)))
	}
}
