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
