package ir

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// item is a part of a name's pattern: a character, a member of a class, any single character, or any run of them.
type item struct {
	kind itemKind
	char rune
	// ranges are pairs of the first and the last character of a class; not is true for a class of all others.
	ranges []rune
	not    bool
}

type itemKind uint8

const (
	itemChar itemKind = iota
	itemAny
	itemClass
	itemRun
)

// items takes a pattern apart. It is false for a class without an end, and for a backslash at the end.
func items(pattern string) (out []item, ok bool) {
	for pattern != "" {
		var it item
		switch pattern[0] {
		case '*':
			it.kind, pattern = itemRun, pattern[1:]
			if n := len(out); n > 0 && out[n-1].kind == itemRun {
				continue
			}
		case '?':
			it.kind, pattern = itemAny, pattern[1:]
		case '[':
			if pattern, ok = it.class(pattern[1:]); !ok {
				return nil, false
			}
		default:
			if it.char, pattern, ok = literalRune(pattern); !ok {
				return nil, false
			}
		}
		out = append(out, it)
	}
	return out, true
}

// class reads a class behind its opening bracket. A "]" that comes first is a member.
func (it *item) class(s string) (rest string, ok bool) {
	it.kind = itemClass
	if s != "" && (s[0] == '^' || s[0] == '!') {
		it.not, s = true, s[1:]
	}
	for first := true; s != "" && (first || s[0] != ']'); first = false {
		var from, to rune
		if from, s, ok = literalRune(s); !ok {
			return "", false
		}
		if to = from; len(s) > 1 && s[0] == '-' && s[1] != ']' {
			if to, s, ok = literalRune(s[1:]); !ok {
				return "", false
			}
		}
		it.ranges = append(it.ranges, from, to)
	}
	if s == "" {
		return "", false
	}
	return s[1:], true
}

// literalRune is the first character of a pattern, without the backslash before it.
func literalRune(pattern string) (c rune, rest string, ok bool) {
	if pattern[0] == '\\' {
		if pattern = pattern[1:]; pattern == "" {
			return 0, "", false
		}
	}
	c, n := utf8.DecodeRuneInString(pattern)
	return c, pattern[n:], true
}

// is reports whether an item stands for a character.
func (it *item) is(r rune) bool {
	switch it.kind {
	case itemChar:
		return it.char == r
	case itemClass:
		for i := 0; i < len(it.ranges); i += 2 {
			if it.ranges[i] <= r && r <= it.ranges[i+1] {
				return !it.not
			}
		}
		return it.not
	case itemAny, itemRun:
		return true
	default:
		return false
	}
}

// folded is as is, for a file system that does not tell upper from lower case.
func (it *item) folded(r rune) bool {
	for f := r; ; {
		if it.is(f) {
			return true
		}
		if f = unicode.SimpleFold(f); f == r {
			return false
		}
	}
}

// MatchName reports whether a pattern of a name matches a name: "*" stands for any characters, "?" for a single
// character, "[a-z]" and "[^a-z]" for a member of a class, and a backslash takes the meaning from the next character.
// A byte that is no UTF-8 is one character.
func MatchName(pattern, name string) bool {
	m := newNameMatcher(pattern, false)
	return m.matches(name)
}

// maxName is the number of bytes that a name has at most (NAME_MAX, limits.h).
const maxName = 255

// BadName is the reason why a pattern cannot be one of names, empty if it can: none could match it, or it reads like a
// pattern of paths.
func BadName(pattern string) string {
	list, ok := items(pattern)
	switch fixed := 0; {
	case pattern == "" || pattern == "." || pattern == "..":
		return "no file has this name"
	case strings.Contains(pattern, "/"):
		return "a pattern is about one name, without /"
	case strings.Contains(pattern, "**"):
		return "** has no meaning in one name; * stands for any characters"
	case strings.ContainsAny(pattern, "{}"):
		return "braces have no meaning"
	case pattern[0] == '!':
		return "a pattern cannot be turned round"
	case strings.ContainsRune(pattern, 0) || !utf8.ValidString(pattern):
		return "no file has this name"
	case strings.ContainsFunc(pattern, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }):
		return "it has a character that nobody sees; ? stands for any one"
	case strings.TrimSpace(pattern) != pattern:
		return "it begins or ends with a blank; ? stands for any one character"
	case strings.Contains(pattern, "[[:") || strings.Contains(pattern, "[[=") || strings.Contains(pattern, "[[."):
		return "classes such as [[:alpha:]] have no meaning; write the characters, as in [a-z]"
	case !ok:
		return "[ or \\ has no end"
	default:
		for i := range list {
			if list[i].kind == itemRun {
				continue
			}
			if fixed++; !list[i].shares(&item{kind: itemAny}) {
				return "a set of characters is empty"
			}
		}
		if fixed > maxName {
			return "no name is that long"
		}
		return ""
	}
}

// nameMatcher is a pattern prepared for many names.
type nameMatcher struct {
	// first and last are the fixed beginning and end, with a run between them where run is set.
	first, last string
	run         bool
	// items has the pattern where it is of another form.
	items []item
	fold  bool
	never bool
}

func newNameMatcher(pattern string, fold bool) nameMatcher {
	list, ok := items(pattern)
	m := nameMatcher{items: list, fold: fold, never: !ok}
	if !ok || fold {
		return m
	}
	var first, last strings.Builder
	for _, it := range list {
		switch {
		case it.kind == itemRun && !m.run:
			m.run = true
		case it.kind != itemChar || it.char == utf8.RuneError:
			m.run = false
			return m
		case m.run:
			last.WriteRune(it.char)
		default:
			first.WriteRune(it.char)
		}
	}
	m.items, m.first, m.last = nil, first.String(), last.String()
	return m
}

func (m *nameMatcher) matches(name string) bool {
	switch {
	case m.never:
		return false
	case m.items != nil:
		return m.general(name)
	case m.run:
		rest, begins := strings.CutPrefix(name, m.first)
		return begins && strings.HasSuffix(rest, m.last)
	default:
		return name == m.first
	}
}

// general lets the latest run take a character more wherever the items behind it do not match, which is
// enough: what an earlier run could take, the latest can.
func (m *nameMatcher) general(name string) bool {
	at, run, taken := 0, -1, 0
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch {
		case at < len(m.items) && m.items[at].kind == itemRun:
			run, taken, at = at, i, at+1
			continue
		case at < len(m.items) && (m.items[at].is(r) || m.fold && m.items[at].folded(r)):
			at, i = at+1, i+n
			continue
		case run < 0:
			return false
		}
		_, n = utf8.DecodeRuneInString(name[taken:])
		taken += n
		at, i = run+1, taken
	}
	for at < len(m.items) && m.items[at].kind == itemRun {
		at++
	}
	return at == len(m.items)
}

// shares reports whether some character is one of both items.
func (it *item) shares(o *item) bool {
	for _, r := range append(it.edges(), o.edges()...) {
		if r > 0 && r != '/' && it.is(r) && o.is(r) {
			return true
		}
	}
	return false
}

// edges are the characters that an item names, and their neighbours. If two items share a character, they share an edge
// of either of them; an item that takes any character sets no limit, so
// any edge will do.
func (it *item) edges() []rune {
	switch it.kind {
	case itemChar:
		return []rune{it.char}
	case itemClass:
		out := []rune{0x10FFFF, 1}
		for i := 0; i < len(it.ranges); i += 2 {
			out = append(out, it.ranges[i], it.ranges[i]-1, it.ranges[i+1], it.ranges[i+1]+1)
		}
		return out
	case itemAny, itemRun:
		return []rune{'a'}
	default:
		return nil
	}
}
