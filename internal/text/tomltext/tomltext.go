// Package tomltext writes strings and keys as TOML. It imports no parser: the start of a tool
// writes the rules that would permit a refused call, and links no TOML library.
package tomltext

import (
	"fmt"
	"strings"
)

// bare are the characters of a key that needs no quotes (https://toml.io/en/v1.0.0#keys).
const bare = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// Key writes a part of a dotted key, bare where that is possible.
func Key(s string) string {
	if s != "" && strings.Trim(s, bare) == "" {
		return s
	}
	return String(s)
}

// String writes a basic string (https://toml.io/en/v1.0.0#string).
func String(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
