package importer

import (
	"regexp"
	"strings"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// LongPrefix is more than Gemini CLI takes for an expression.
const LongPrefix = 500

var (
	plainStart = expression.Once{Text: `^[A-Za-z0-9_/ :=@,-]*`}
	group      = expression.Once{Text: `^\(([A-Za-z0-9_/ :=@,|-]*)\)($|[^*?+{])`}
)

// maxGroups is how many groups an expression may have that are spelled out.
const maxGroups = 3

// ExpressionPatterns are the patterns of a regular expression, which begins with the command and ends anywhere: its
// text if it is plain, that of each alternative, or one that matches more.
func ExpressionPatterns(regex string, depth int) []Pattern {
	if _, err := regexp.Compile(regex); err != nil {
		return []Pattern{{All: true, Vague: true}} // not an expression, or one of JavaScript alone
	}
	begin := plainStart.Get().FindString(regex)
	rest := regex[len(begin):]
	if m := group.Get().FindStringSubmatch(rest); m != nil && depth < maxGroups && Grouped(rest) {
		var out []Pattern
		for _, some := range strings.Split(m[1], "|") {
			out = append(out, ExpressionPatterns(begin+some+rest[len(m[1])+len("()"):], depth+1)...)
		}
		return out
	}
	switch {
	case rest == "" && begin != "" && len(regex) <= LongPrefix:
		return []Pattern{{Glob: begin + "*"}}
	case begin == "", strings.Contains(rest, "|") && !Grouped(rest):
		return []Pattern{{All: true, Vague: true}}
	case rest != "" && strings.ContainsAny(rest[:1], "*?{"):
		begin = begin[:len(begin)-1] // it may be missing
	}
	if begin == "" {
		return []Pattern{{All: true, Vague: true}}
	}
	return []Pattern{{Glob: begin + "**"}}
}

// Grouped reports whether every alternative stands in a pair of parentheses that have none inside, nor brackets and
// escapes.
func Grouped(regex string) bool {
	open := false
	for _, r := range regex {
		switch {
		case strings.ContainsRune(`[]\`, r), r == '(' && open, r == ')' && !open, r == '|' && !open:
			return false
		case r == '(' || r == ')':
			open = r == '('
		}
	}
	return !open
}

// AnyText is a pattern of names of permissions.
func AnyText(pattern string) *regexp.Regexp {
	return regexp.MustCompile("(?s)^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern)) +
		"$")
}
