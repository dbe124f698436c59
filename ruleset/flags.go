package ruleset

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/ruleset/shell"
)

// Flags matches programs that have all of these options, in any order, combined or apart. It
// cannot tell an option from a value that looks like an option.
type Flags []string

func (m Flags) match(q *question) answer {
	if q.part == nil {
		return answer{}
	}
	found := yes
	for _, f := range m {
		found = both(found, m.one(q, f))
	}
	return answer{tri: found}
}

// synonyms are options that usual programs take for the same.
var synonyms = map[string][]string{"-r": {"-R", "--recursive"}, "-R": {"-r", "--recursive"}, "-f": {"--force"},
	"--recursive": {"-r", "-R"}, "--force": {"-f"}}

// one looks for an option.
func (m Flags) one(q *question, flag string) tri {
	names := []string{flag}
	if q.loose {
		names = append(names, synonyms[flag]...)
	}
	found, words := no, q.part.Words[1:]
	for i, w := range words {
		if w.Is("--") {
			break
		}
		if w.Form != shell.Literal && w.MayBeOption() {
			found = either(found, maybe)
			continue
		}
		for _, n := range names {
			found = either(found, m.word(q, n, words[i:]))
		}
	}
	if found != yes && q.loose && utf8.RuneCountInString(flag) > 2 && flag[1] != '-' {
		// -rf is -r and -f as well.
		apart := yes
		for _, c := range flag[1:] {
			apart = both(apart, m.one(q, "-"+string(c)))
		}
		found = either(found, apart)
	}
	return found
}

// word compares the first of some words with an option.
func (m Flags) word(q *question, flag string, words []shell.Word) tri {
	text := words[0].Text
	name, value, valued := strings.Cut(flag, "=")
	switch {
	case text == flag, !valued && strings.HasPrefix(text, flag+"="):
		return yes
	case valued && text == name && len(words) > 1:
		return same(words[1], value)
	case len(text) < 2 || text[0] != '-':
		return no
	case strings.HasPrefix(flag, "--"):
		// Programs take the beginning of a long option for the whole.
		begun, _, _ := strings.Cut(text, "=")
		if q.loose && len(begun) > 3 && strings.HasPrefix(name, begun) {
			return maybe
		}
		return no
	case len(flag) != 2 || text[1] == '-':
		return no
	}
	at := strings.IndexByte(text, flag[1])
	switch {
	case at < 0:
		return no
	case q.loose:
		return yes
	}
	for _, c := range text[1:] {
		if !slices.Contains(m, "-"+string(c)) {
			return maybe // a letter before it may have the rest as its value
		}
	}
	return yes
}
