// Package shellword quotes words of commands that messages suggest. It imports no parser: the
// start of a tool suggests commands, too.
package shellword

import (
	"strconv"
	"strings"
)

// plain are the characters that no shell splits or expands anywhere in a word.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./+,@%:"

// Quote writes a word for a POSIX shell, as it is where that is possible. A word with control
// characters is written as in Go instead: it has to stay on its line and be seen, and POSIX has
// no quotes that do both.
func Quote(s string) string {
	switch {
	case s != "" && strings.Trim(s, plain) == "":
		return s
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return strconv.Quote(s)
	default:
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
}

// bare are the characters that mean nothing to any shell, wherever they stand.
const bare = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./"

// Exact writes a word so that it has only this meaning in every shell of the POSIX shell's kin and
// in fish, for a shell and not for a reader. A word that has a NUL is none.
func Exact(s string) string {
	switch {
	case s == "":
		return "''"
	case strings.Trim(s, bare) == "":
		return s
	}
	var b strings.Builder
	for s != "" {
		n := strings.IndexAny(s, `'\`)
		if n < 0 {
			n = len(s)
		}
		if n > 0 {
			b.WriteString("'" + s[:n] + "'")
		} else { // within quotes of fish a backslash has a meaning
			n = 1
			b.WriteString(`\` + s[:n])
		}
		s = s[n:]
	}
	return b.String()
}
