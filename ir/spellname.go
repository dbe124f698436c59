package ir

import "strings"

// NameSpelling writes the parts of a name's pattern in another language of patterns.
type NameSpelling struct {
	// Run stands for any characters, One for a single character.
	Run, One string
	// Char writes a character, Class the characters between each pair of ranges, or all others.
	Char  func(rune) string
	Class func(ranges []rune, others bool) string
}

// Spell writes the pattern of a name.
func (s NameSpelling) Spell(pattern string) string {
	parts, _ := items(pattern)
	var b strings.Builder
	for _, it := range parts {
		switch it.kind {
		case itemRun:
			b.WriteString(s.Run)
		case itemAny:
			b.WriteString(s.One)
		case itemClass:
			b.WriteString(s.Class(it.ranges, it.not))
		case itemChar:
			b.WriteString(s.Char(it.char))
		}
	}
	return b.String()
}
