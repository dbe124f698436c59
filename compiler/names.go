package compiler

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
	"golang.org/x/text/unicode/norm"
)

// namePatterns reads the patterns of a rule by name, sorted and each once. It is false where an item is none, or
// there are none: the rule would then be a different rule.
func (s scope) namePatterns(v *source.Value) (out []string, ok bool) {
	if v.Kind != source.ArrayKind {
		s.expect(v, `a list of patterns such as [".env", "*.pem"]`)
		return nil, false
	}
	ok = true
	for i, item := range v.Array {
		in := s.item(i)
		text, isText := in.str(item)
		if !isText {
			ok = false
			continue
		}
		if why := ir.BadName(text); why != "" {
			in.report(diag.BadNames, item, "found "+tomltext.String(text)+": "+why).Hint = namesHint(text)
			ok = false
			continue
		}
		out = append(out, norm.NFC.String(text))
	}
	if ok && len(out) == 0 {
		f := s.report(diag.BadNames, v, "found no pattern, so the rule is about nothing")
		f.Hint = "remove names for a rule on the path itself"
		return nil, false
	}
	slices.Sort(out)
	return slices.Compact(out), ok
}

// namesHint says how to spell the meaning of a pattern.
func namesHint(pattern string) string {
	by := asNames(pattern)
	switch {
	case by != "":
		return "write " + by
	case strings.HasPrefix(pattern, "!"):
		return "write a later rule with the path of the file that is to stay open, such as { path = " +
			tomltext.String(pattern[1:]) + ", read = true }"
	case strings.Contains(pattern, "{"):
		return `write each name: names = [".env", ".env.local"]`
	default:
		return `write patterns of names such as ".env", ".env.*" or "*.pem", and the directory as path`
	}
}

// asNames is a pattern of paths in the form of rules by name, empty if it has no such form: a directory, and below it a
// pattern of a single name.
func asNames(pattern string) string {
	dir, name := path.Split(pattern)
	dir = strings.TrimSuffix(strings.TrimSuffix(dir, "/"), "**")
	if dir = strings.TrimSuffix(dir, "/"); dir == "" {
		dir = "."
	}
	names := []string{name}
	if head, rest, braced := strings.Cut(name, "{"); braced {
		list, tail, closed := strings.Cut(rest, "}")
		if names = nil; closed {
			for _, alternative := range strings.Split(list, ",") {
				names = append(names, head+alternative+tail)
			}
		}
	}
	bad := func(n string) bool { return ir.BadName(n) != "" }
	if len(names) == 0 || strings.ContainsAny(dir, "*?[{!~$") || slices.ContainsFunc(names, bad) {
		return ""
	}
	for i, n := range names {
		names[i] = tomltext.String(n)
	}
	return "path = " + tomltext.String(dir) + ", names = [" + strings.Join(names, ", ") + "]"
}
