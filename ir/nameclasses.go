package ir

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxClassSteps bounds the work of NameClasses: a fraction of a second.
const maxClassSteps = 1 << 19

// NameClasses returns names that stand for all: each name has a substitute among them that the same of the
// given lists of patterns match. None is among those to avoid. It is false where the patterns tell too many
// names apart.
func NameClasses(lists [][]string, avoid []string) (names []string, ok bool) {
	return classes.of(lists, avoid)
}

// classes has the latest answers: a policy is asked about the same lists for each of its regions.
var classes = classCache{known: map[string]classAnswer{}}

type classCache struct {
	mu    sync.Mutex
	known map[string]classAnswer
	// hard are lists that told too many names apart: with more lists beside them they tell apart no fewer.
	hard [][]string
}

type classAnswer struct {
	names []string
	ok    bool
}

// maxClassesKept bounds the answers that are kept.
const maxClassesKept = 256

func (c *classCache) of(lists [][]string, avoid []string) ([]string, bool) {
	var all []string
	for _, list := range append(slices.Clone(lists), avoid) {
		all = append(all, strconv.Itoa(len(list))+"/"+strings.Join(list, "/"))
	}
	key := strings.Join(all, "//")
	c.mu.Lock()
	defer c.mu.Unlock()
	if a, known := c.known[key]; known {
		return slices.Clone(a.names), a.ok
	}
	if slices.ContainsFunc(c.hard, func(hard []string) bool {
		return !slices.ContainsFunc(hard, func(list string) bool { return !slices.Contains(all[:len(lists)], list) })
	}) {
		return nil, false
	}
	var a classAnswer
	if a.names, a.ok = nameClasses(lists, avoid); !a.ok && len(c.hard) < maxClassesKept {
		c.hard = append(c.hard, all[:len(lists)])
	}
	if len(c.known) >= maxClassesKept {
		clear(c.known)
	}
	c.known[key] = a
	return slices.Clone(a.names), a.ok
}

// nameClasses runs the patterns that are no fixed names as a machine. A fixed name is a class by itself, as far
// as the lists tell it from what the machine finds.
func nameClasses(lists [][]string, avoid []string) ([]string, bool) {
	taken := map[string]bool{}
	for _, name := range avoid {
		taken[name] = true
	}
	var fixed []string
	open := make([][]string, len(lists))
	for i, list := range lists {
		for _, p := range list {
			m := newNameMatcher(p, false)
			if m.items != nil || m.run || m.never {
				open[i] = append(open[i], p)
			} else if !taken[m.first] && m.first != "" && m.first != "." && m.first != ".." {
				fixed = append(fixed, m.first)
			}
		}
	}
	for _, name := range fixed {
		taken[name] = true
	}
	names, ok := openClasses(open, taken)
	found := map[string]bool{}
	var out []string
	verdicts := newVerdicts(lists)
	for _, name := range append(fixed, names...) {
		if v := verdicts.of(name); !found[v] {
			found[v] = true
			out = append(out, name)
		}
	}
	return out, ok
}

// openClasses finds names for the patterns that are no fixed names, none of which is taken. Few of the taken
// names are in the way of the shortest names, and only those are told to the machine.
func openClasses(lists [][]string, taken map[string]bool) ([]string, bool) {
	const tries = 64
	var avoid []string
	for range tries {
		names, ok := newClassMachine(lists, avoid).run()
		before := len(avoid)
		for _, name := range names {
			if taken[name] {
				avoid = append(avoid, name)
			}
		}
		if !ok || len(avoid) == before {
			return names, ok
		}
	}
	return nil, false
}

// verdicts say which lists match a name.
type verdicts [][]nameMatcher

func newVerdicts(lists [][]string) verdicts {
	out := make(verdicts, len(lists))
	for i, list := range lists {
		for _, p := range list {
			out[i] = append(out[i], newNameMatcher(p, false))
		}
	}
	return out
}

func (v verdicts) of(name string) string {
	out := make([]byte, len(v))
	for i := range v {
		out[i] = "01"[btoi(slices.ContainsFunc(v[i], func(m nameMatcher) bool { return m.matches(name) }))]
	}
	return string(out)
}

// classMachine runs all patterns at once. Its state has a word for each 64 positions of each pattern, a word for each
// list that is 1 where the list matches whatever follows, and a last word for what is no name of a file.
type classMachine struct {
	patterns []classPattern
	lists    int
	avoid    int // the index of the list of names to avoid, -1 for none
	alphabet []rune
	size     int
}

// classPattern is a pattern in the machine: bit i of its words is the position before item i, and the last bit the end.
type classPattern struct {
	list, at, words int
	items           []item
	runs            []uint64   // the positions before runs
	moves           [][]uint64 // by letter: the positions whose item stands for it
}

func newClassMachine(lists [][]string, avoid []string) *classMachine {
	m := &classMachine{avoid: -1, lists: len(lists)}
	add := func(list int, it []item) {
		m.patterns = append(m.patterns, classPattern{list: list, items: it, words: len(it)/64 + 1})
	}
	for i, list := range lists {
		for _, p := range list {
			if it, ok := items(p); ok {
				add(i, it)
			}
		}
	}
	if len(avoid) > 0 {
		m.avoid = m.lists
		m.lists++
		for _, name := range avoid {
			var it []item
			for _, r := range name {
				it = append(it, item{kind: itemChar, char: r})
			}
			add(m.avoid, it)
		}
	}
	m.alphabet = m.letters()
	m.size = m.lists
	for i := range m.patterns {
		p := &m.patterns[i]
		p.at = m.size
		m.size += p.words
		p.prepare(m.alphabet)
	}
	m.size++
	return m
}

func (p *classPattern) prepare(alphabet []rune) {
	p.runs = make([]uint64, p.words)
	p.moves = make([][]uint64, len(alphabet))
	for i := range p.items {
		if p.items[i].kind == itemRun {
			p.runs[i/64] |= 1 << (i % 64)
		}
	}
	for l, r := range alphabet {
		p.moves[l] = make([]uint64, p.words)
		for i := range p.items {
			if p.items[i].is(r) {
				p.moves[l][i/64] |= 1 << (i % 64)
			}
		}
	}
}

// letters are characters of which each stands for all that no pattern tells from it. A letter that none names
// comes first.
func (m *classMachine) letters() []rune {
	var named []rune
	for i := range m.patterns {
		for j := range m.patterns[i].items {
			named = append(named, m.patterns[i].items[j].edges()...)
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
	unusable := func(r rune) bool { return r <= 0 || r == '/' || !utf8.ValidRune(r) }
	return append([]rune{fresh}, slices.DeleteFunc(named, unusable)...)
}

// run visits the states from the shortest names on, and returns the first name of each verdict.
func (m *classMachine) run() (names []string, ok bool) {
	type walked struct {
		state []uint64
		name  string
	}
	seen, found := map[string]bool{}, map[string]bool{}
	steps, next, key := 0, make([]uint64, m.size), make([]byte, 0, 8*m.size)
	for queue := []walked{{state: m.start()}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if verdict, avoided := m.accepts(at.state); !avoided && !found[verdict] && at.state[m.size-1] == isName {
			found[verdict] = true
			names = append(names, at.name)
		}
		for l, r := range m.alphabet {
			if steps += 1 + m.size/12; steps > maxClassSteps {
				return nil, false
			}
			m.step(next, at.state, l, r)
			if key = appendKey(key[:0], next); !seen[string(key)] {
				seen[string(key)] = true
				queue = append(queue, walked{slices.Clone(next), at.name + string(r)})
			}
		}
	}
	return names, true
}

func appendKey(b []byte, s []uint64) []byte {
	for _, w := range s {
		b = append(b, byte(w), byte(w>>8), byte(w>>16), byte(w>>24), byte(w>>32), byte(w>>40), byte(w>>48), byte(w>>56))
	}
	return b
}

// The last word of a state tells apart what is no name of a file: nothing, "." and "..".
const (
	noName uint64 = iota
	oneDot
	twoDots
	isName
)

func afterRune(last uint64, r rune) uint64 {
	if r != '.' || last >= twoDots {
		return isName
	}
	return last + 1
}

func (m *classMachine) start() []uint64 {
	s := make([]uint64, m.size)
	s[m.size-1] = noName
	for i := range m.patterns {
		p := &m.patterns[i]
		s[p.at] = 1
		p.close(s)
	}
	return s
}

// close adds the positions behind runs, which may be empty.
func (p *classPattern) close(s []uint64) {
	for i := range p.items {
		if p.items[i].kind == itemRun && s[p.at+i/64]&(1<<(i%64)) != 0 {
			s[p.at+(i+1)/64] |= 1 << ((i + 1) % 64)
		}
	}
}

// step writes the state after a letter.
func (m *classMachine) step(next, s []uint64, letter int, r rune) {
	clear(next)
	copy(next, s[:m.lists])
	next[m.size-1] = afterRune(s[m.size-1], r)
	for i := range m.patterns {
		p := &m.patterns[i]
		if next[p.list] == 1 {
			continue
		}
		var carry uint64
		for w := range p.words {
			moved := s[p.at+w] & p.moves[letter][w]
			over := moved &^ p.runs[w]
			next[p.at+w] = over<<1 | carry | moved&p.runs[w]
			carry = over >> 63
		}
		p.close(next)
		if n := len(p.items); n > 0 && p.items[n-1].kind == itemRun && next[p.at+(n-1)/64]&(1<<((n-1)%64)) != 0 {
			m.settle(next, p.list)
		}
	}
}

// settle forgets the positions in a list that matches whatever follows.
func (m *classMachine) settle(s []uint64, list int) {
	s[list] = 1
	for i := range m.patterns {
		if p := &m.patterns[i]; p.list == list {
			clear(s[p.at : p.at+p.words])
		}
	}
}

// accepts says which lists match at a state, and whether the name is to be avoided.
func (m *classMachine) accepts(s []uint64) (verdict string, avoided bool) {
	out := make([]byte, m.lists)
	for i := range out {
		out[i] = "01"[s[i]]
	}
	for i := range m.patterns {
		if p := &m.patterns[i]; s[p.at+len(p.items)/64]&(1<<(len(p.items)%64)) != 0 {
			out[p.list] = '1'
		}
	}
	if m.avoid >= 0 {
		return string(out[:m.avoid]), out[m.avoid] == '1'
	}
	return string(out), false
}
