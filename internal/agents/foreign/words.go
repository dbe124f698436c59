package foreign

import (
	"strings"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// Stars splits a text at the "*" that no backslash stands before.
func Stars(spec string) []string {
	out := []string{""}
	for i := 0; i < len(spec); i++ {
		switch {
		case spec[i] == '\\' && i+1 < len(spec) && (spec[i+1] == '*' || spec[i+1] == '\\'):
			i++
			out[len(out)-1] += spec[i : i+1]
		case spec[i] == '*':
			out = append(out, "")
		default:
			out[len(out)-1] += spec[i : i+1]
		}
	}
	return out
}

// Wildcard reports whether a text consists of the parts, with any text between them.
func Wildcard(parts []string, text string) bool {
	if len(parts) == 1 {
		return text == parts[0]
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(text, first) || !strings.HasSuffix(text[len(first):], last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return true
}

// PlainRun is a part of an expression that stands for itself.
var PlainRun = expression.Once{Text: `[A-Za-z0-9_./ -]+`}
