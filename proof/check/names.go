package check

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern is a pattern of one name: a list of sets of characters, each of which may stand for a run of them.
type pattern []element

type element struct {
	run    bool   // any characters: "*"
	ranges []rune // pairs of the first and the last character; nil for any character
	not    bool   // all others
}

// parsePattern reads the language of patterns: "*", "?", "[a-z]", "[^a-z]", and a backslash before a character. A
// pattern that is none matches nothing.
func parsePattern(text string) pattern {
	out := pattern{}
	literal := func() (r rune, ok bool) {
		if text = strings.TrimPrefix(text, "\\"); text == "" {
			return 0, false
		}
		r, n := utf8.DecodeRuneInString(text)
		text = text[n:]
		return r, true
	}
	for text != "" {
		switch c := text[0]; c {
		case '*':
			text = text[1:]
			out = append(out, element{run: true})
		case '?':
			text = text[1:]
			out = append(out, element{})
		case '[':
			e := element{ranges: []rune{}}
			if text = text[1:]; text != "" && (text[0] == '^' || text[0] == '!') {
				e.not, text = true, text[1:]
			}
			for first := true; text != "" && (first || text[0] != ']'); first = false {
				from, ok := literal()
				to := from
				if ok && len(text) > 1 && text[0] == '-' && text[1] != ']' {
					text = text[1:]
					to, ok = literal()
				}
				if !ok {
					return nil
				}
				e.ranges = append(e.ranges, from, to)
			}
			if text == "" {
				return nil
			}
			text, out = text[1:], append(out, e)
		default:
			r, ok := literal()
			if !ok {
				return nil
			}
			out = append(out, element{ranges: []rune{r, r}})
		}
	}
	return out
}

func (e *element) has(r rune, folds bool) bool {
	if e.run || e.ranges == nil {
		return true
	}
	for f := r; ; {
		in := false
		for i := 0; i < len(e.ranges); i += 2 {
			in = in || e.ranges[i] <= f && f <= e.ranges[i+1]
		}
		if in != e.not {
			return true
		}
		if f = unicode.SimpleFold(f); !folds || f == r {
			return false
		}
	}
}

// state is the set of positions in a pattern that a name may have led to, as bits.
type state [5]uint64

func (s *state) set(i int)      { s[i/64] |= 1 << (i % 64) }
func (s *state) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// start is the state before a name.
func (p pattern) start() state {
	var s state
	if p != nil {
		p.add(&s, 0)
	}
	return s
}

// add adds a position, and those behind runs that may be empty.
func (p pattern) add(s *state, i int) {
	for ; i < len(p) && i < 256; i++ {
		s.set(i)
		if !p[i].run {
			return
		}
	}
	s.set(i)
}

func (p pattern) step(s state, r rune, folds bool) state {
	var out state
	if s == out {
		return out
	}
	for i := range p {
		switch {
		case i >= 256 || !s.has(i) || !p[i].has(r, folds):
		case p[i].run:
			p.add(&out, i)
		default:
			p.add(&out, i+1)
		}
	}
	return out
}

func (p pattern) ends(s state) bool { return p != nil && s.has(min(len(p), 256)) }

func (p pattern) matches(name string, folds bool) bool {
	s := p.start()
	for _, r := range name {
		s = p.step(s, r, folds)
	}
	return p.ends(s)
}

// maxStates bounds the search for names, which a set of patterns could make long.
const maxStates = 20000

// nameClasses returns a name for each set of patterns that some name matches and no other pattern does; none of them is
// in taken. It is false where there are too many to find all. Characters that no pattern tells apart are tried once.
func nameClasses(texts, taken []string, folds bool) ([]string, bool) {
	list, chars := make([]pattern, len(texts)), []rune{'x', 'q', '0'}
	start := make([]state, len(texts))
	for i, t := range texts {
		list[i] = parsePattern(t)
		start[i] = list[i].start()
		for _, e := range list[i] {
			for _, r := range e.ranges {
				for _, c := range []rune{r, r - 1, r + 1} {
					if c > ' ' && c != '/' && c != 127 && utf8.ValidRune(c) && !slices.Contains(chars, c) {
						chars = append(chars, c)
					}
				}
			}
		}
	}
	type item struct {
		name   string
		states []state
	}
	var out []string
	found, visits := map[string]bool{}, map[string]int{}
	for queue := []item{{"", start}}; len(queue) > 0; queue = queue[1:] {
		for _, r := range chars {
			next, matched, key := item{queue[0].name + string(r), make([]state, len(list))}, "", []byte(nil)
			for i, p := range list {
				next.states[i] = p.step(queue[0].states[i], r, folds)
				if p.ends(next.states[i]) {
					matched += texts[i] + "/"
				}
				for _, w := range next.states[i] {
					key = binary.LittleEndian.AppendUint64(key, w)
				}
			}
			if name := next.name; !found[matched] && name != "." && name != ".." && !slices.Contains(taken, name) {
				found[matched] = true
				out = append(out, name)
			}
			// Names that are taken lead to states that other names lead to as well.
			if visits[string(key)] <= len(taken) && (visits[string(key)] == 0 || !found[matched]) {
				visits[string(key)]++
				queue = append(queue, next)
			}
			if len(visits) > maxStates {
				return nil, false
			}
		}
	}
	return out, true
}
