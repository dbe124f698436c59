package ir

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxClassStates bounds the work of NameClasses.
const maxClassStates = 1 << 14

// NameClasses returns names that stand for all: for each name there is one among them that the same of the given lists of
// patterns match. None is among those to avoid. The names are as short as they can be, in the order of their length. It is
// false where the patterns tell too many names apart.
func NameClasses(lists [][]string, avoid []string) (names []string, ok bool) {
	m := newClassMachine(lists, avoid)
	seen := map[string]bool{}
	found := map[string]bool{}
	queue := []walked{{state: m.start()}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if verdict, avoided := m.accepts(at.state); !avoided && !found[verdict] && at.state[len(at.state)-1] == isName {
			found[verdict] = true
			names = append(names, at.name)
		}
		for _, r := range m.alphabet {
			next := m.step(at.state, r)
			if key := string(next); !seen[key] {
				if len(seen) == maxClassStates {
					return nil, false
				}
				seen[key] = true
				queue = append(queue, walked{next, at.name + string(r)})
			}
		}
	}
	return names, true
}

// The last byte of a state tells apart what is no name of a file: nothing, "." and "..".
const (
	noName byte = iota
	oneDot
	twoDots
	isName
)

func afterRune(last byte, r rune) byte {
	if r != '.' || last >= twoDots {
		return isName
	}
	return last + 1
}

// walked is a state and the name that leads there.
type walked struct {
	state []byte
	name  string
}

// classMachine runs all patterns at once. A state has a byte for each list, which is 1 where the list matches whatever
// follows, and the positions of each pattern as bits; the last byte is one of those of names.
type classMachine struct {
	lists    [][][]item
	avoid    int // the index of the list of names to avoid, -1 for none
	alphabet []rune
	offsets  [][]int // of the patterns' positions
	size     int
}

func newClassMachine(lists [][]string, avoid []string) *classMachine {
	m := &classMachine{avoid: -1, size: len(lists) + 1}
	add := func(patterns [][]item) {
		var at []int
		for _, p := range patterns {
			at = append(at, m.size)
			m.size += len(p)/8 + 1
		}
		m.lists, m.offsets = append(m.lists, patterns), append(m.offsets, at)
	}
	for _, list := range lists {
		var patterns [][]item
		for _, p := range list {
			if it, ok := items(p); ok {
				patterns = append(patterns, it)
			}
		}
		add(patterns)
	}
	if len(avoid) > 0 {
		m.avoid = len(lists)
		var literal [][]item
		for _, name := range avoid {
			var it []item
			for _, r := range name {
				it = append(it, item{kind: itemChar, char: r})
			}
			literal = append(literal, it)
		}
		add(literal)
	}
	m.size++
	m.alphabet = m.letters()
	return m
}

// letters are characters of which each stands for all that no pattern tells from it. A letter that none names comes first.
func (m *classMachine) letters() []rune {
	var named []rune
	for _, list := range m.lists {
		for _, p := range list {
			for i := range p {
				named = append(named, p[i].edges()...)
			}
		}
	}
	slices.Sort(named)
	named = slices.Compact(named)
	fresh := 'x'
	for slices.Contains(named, fresh) {
		if fresh++; fresh == 'z'+1 {
			fresh = 'À'
		}
	}
	return append([]rune{fresh}, slices.DeleteFunc(named, func(r rune) bool { return r <= 0 || r == '/' || !utf8.ValidRune(r) })...)
}

func (m *classMachine) start() []byte {
	s := make([]byte, m.size)
	for i, list := range m.lists {
		for j, p := range list {
			m.reach(s, i, j, p, 0)
		}
	}
	return s
}

// reach adds a position, and those behind runs, which may be empty.
func (m *classMachine) reach(s []byte, i, j int, p []item, at int) {
	for {
		s[m.offsets[i][j]+at/8] |= 1 << (at % 8)
		if at == len(p) || p[at].kind != itemRun {
			return
		}
		at++
	}
}

func (m *classMachine) has(s []byte, i, j, at int) bool {
	return s[m.offsets[i][j]+at/8]&(1<<(at%8)) != 0
}

func (m *classMachine) step(s []byte, r rune) []byte {
	next := make([]byte, m.size)
	next[m.size-1] = afterRune(s[m.size-1], r)
	for i, list := range m.lists {
		if s[i] == 1 {
			next[i] = 1
			continue
		}
		for j, p := range list {
			for at := range p {
				switch {
				case !m.has(s, i, j, at) || !p[at].is(r):
				case p[at].kind == itemRun:
					m.reach(next, i, j, p, at)
				default:
					m.reach(next, i, j, p, at+1)
				}
			}
			if n := len(p); n > 0 && p[n-1].kind == itemRun && m.has(next, i, j, n-1) {
				m.settle(next, i)
				break
			}
		}
	}
	return next
}

// settle forgets the positions in a list that matches whatever follows.
func (m *classMachine) settle(s []byte, i int) {
	s[i] = 1
	for j, p := range m.lists[i] {
		clear(s[m.offsets[i][j] : m.offsets[i][j]+len(p)/8+1])
	}
}

// accepts says which lists match at a state, and whether the name is one to avoid.
func (m *classMachine) accepts(s []byte) (verdict string, avoided bool) {
	var out strings.Builder
	for i, list := range m.lists {
		matches := s[i] == 1 || slices.ContainsFunc(indexes(list), func(j int) bool { return m.has(s, i, j, len(list[j])) })
		if i == m.avoid {
			return out.String(), matches
		}
		out.WriteByte("01"[btoi(matches)])
	}
	return out.String(), false
}

func indexes[T any](list []T) []int {
	out := make([]int, len(list))
	for i := range out {
		out[i] = i
	}
	return out
}
