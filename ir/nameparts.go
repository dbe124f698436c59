package ir

import (
	"slices"
	"strings"
	"unicode"
)

// NamePart is a part of a pattern of names: a single character, or a run of any.
type NamePart struct{ item item }

// NameParts takes a pattern apart, in order. It is empty for a pattern that BadName refuses for its form.
func NameParts(pattern string) []NamePart {
	list, ok := items(pattern)
	if !ok {
		return nil
	}
	out := make([]NamePart, len(list))
	for i := range list {
		out[i].item = list[i]
	}
	return out
}

// Run reports whether the part stands for any number of any characters.
func (p NamePart) Run() bool { return p.item.kind == itemRun }

// Folded reports whether the part stands for a character where upper and lower case are not told apart.
func (p NamePart) Folded(r rune) bool { return p.item.folded(r) }

// FoldedRunes lists the characters that the part stands for where upper and lower case are not told apart, and is
// false where they are more than limit.
func (p NamePart) FoldedRunes(limit int) (out []rune, ok bool) {
	switch {
	case p.item.kind == itemChar:
		out = orbit(p.item.char)
	case p.item.kind != itemClass || p.item.not:
		return nil, false
	}
	for i := 0; i < len(p.item.ranges); i += 2 {
		if int(p.item.ranges[i+1]-p.item.ranges[i]) >= limit {
			return nil, false
		}
		for r := p.item.ranges[i]; r <= p.item.ranges[i+1]; r++ {
			out = append(out, orbit(r)...)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out, len(out) <= limit
}

// orbit lists a character in all its cases.
func orbit(r rune) []rune {
	out := []rune{r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		out = append(out, f)
	}
	return out
}

// FoldNames rewrites patterns to others that match, with regard to case, the names that these match without. A set of
// very many characters stays as it is.
func FoldNames(patterns []string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		var text strings.Builder
		for _, part := range NameParts(p) {
			text.WriteString(part.fold())
		}
		out[i] = text.String()
	}
	return out
}

// maxFolded bounds the characters of a set that are folded.
const maxFolded = 1 << 11

// fold is the text of a part that stands for all cases of its characters.
func (p NamePart) fold() string {
	it := p.item
	switch it.kind {
	case itemRun:
		return "*"
	case itemAny:
		return "?"
	case itemChar, itemClass:
	}
	open := "["
	if it.not {
		open, it.not = "[^", false
	}
	runes, ok := NamePart{it}.FoldedRunes(maxFolded)
	if ok && p.item.not {
		// Of what a set leaves out only that stays out which it leaves out in every case.
		runes = slices.DeleteFunc(runes, p.Folded)
	}
	switch {
	case !ok:
		var ranges strings.Builder
		for i := 0; i < len(it.ranges); i += 2 {
			ranges.WriteString(`\` + string(it.ranges[i]) + `-\` + string(it.ranges[i+1]))
		}
		return open + ranges.String() + "]"
	case len(runes) == 0:
		return "?"
	}
	var set strings.Builder
	for _, r := range runes {
		set.WriteString(`\` + string(r))
	}
	return open + set.String() + "]"
}
