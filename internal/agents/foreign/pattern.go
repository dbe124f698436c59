package foreign

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pattern is an absolute path with wildcards: "*" and "?" within a component, "**" as a component for
// any number of them. It covers the paths that it matches, and everything below.
type Pattern struct {
	Parts []string
	// Fold has names match in any case.
	Fold bool
	// Plain has wildcards be characters of names.
	Plain bool
}

// NewPattern returns the pattern of an absolute path.
func NewPattern(abs string) Pattern {
	parts := Split(abs)
	for i, p := range parts {
		if p != "**" && strings.Contains(p, "**") {
			// Programs differ on "a**": the widest reading is any number of components.
			parts = append(slices.Clone(parts[:i]), "**")
			break
		}
	}
	return Pattern{Parts: parts}
}

// Literal reports whether a pattern has no wildcard.
func (p Pattern) Literal() bool { return p.Plain || !slices.ContainsFunc(p.Parts, Wild) }

// String is the absolute path.
func (p Pattern) String() string { return "/" + strings.Join(p.Parts, "/") }

// Name is the last component of a pattern of names at any depth, empty for another one.
func (p Pattern) Name() string {
	if n := len(p.Parts); n > 1 && p.Parts[n-2] == "**" && p.Parts[n-1] != "**" {
		return p.Parts[n-1]
	}
	return ""
}

// Covers reports whether the pattern matches an absolute path, or a directory above it.
func (p Pattern) Covers(abs string) bool {
	_, ok := p.covering(abs)
	return ok
}

// covering is the shortest path at or above abs that the pattern matches.
func (p Pattern) covering(abs string) (string, bool) {
	if p.apart(abs) {
		return "", false
	}
	names := Split(abs)
	states := p.closure([]int{0})
	for i := 0; ; i++ {
		if slices.Contains(states, len(p.Parts)) {
			return "/" + strings.Join(names[:i], "/"), true
		}
		if i == len(names) || len(states) == 0 {
			return "", false
		}
		states = p.step(states, names[i])
	}
}

// apart is true of a path that differs from the pattern before any wildcard, as nearly all pairs do of long lists of
// patterns and paths.
func (p Pattern) apart(abs string) bool {
	for _, part := range p.Parts {
		abs = strings.TrimLeft(abs, "/")
		name, rest, _ := strings.Cut(abs, "/")
		switch {
		case name == "", !p.Plain && Wild(part):
			return false
		case name != part:
			return p.Plain || !p.Fold || differ(part, name)
		}
		abs = rest
	}
	return false
}

// differ is true of names that differ in any case, by their letters of ASCII alone.
func differ(a, b string) bool {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x != y {
			if x >= utf8.RuneSelf || y >= utf8.RuneSelf {
				return false
			}
			if unicode.ToLower(rune(x)) != unicode.ToLower(rune(y)) {
				return true
			}
		}
	}
	return len(a) != len(b)
}

// Inside are absolute paths at and below a directory that the pattern covers, one for each way in
// which it can go on there; none if it covers nothing there.
func (p Pattern) Inside(dir string) []string {
	if p.apart(dir) {
		return nil
	}
	states := p.closure([]int{0})
	for _, name := range Split(dir) {
		if slices.Contains(states, len(p.Parts)) {
			return []string{dir}
		}
		states = p.step(states, name)
	}
	var out []string
	for _, s := range states {
		at := dir
		for _, part := range p.Parts[s:] {
			if part == "**" {
				part = Fresh // none at all is a state of its own
			}
			at = path.Join(at, instance(part))
		}
		out = append(out, at)
	}
	return out
}

// closure adds the states that are reached without a name.
func (p Pattern) closure(states []int) []int {
	for i := 0; i < len(states); i++ {
		if s := states[i]; !p.Plain && s < len(p.Parts) && p.Parts[s] == "**" && !slices.Contains(states, s+1) {
			states = append(states, s+1)
		}
	}
	return states
}

// step returns the positions in the pattern after one more name.
func (p Pattern) step(states []int, name string) []int {
	var next []int
	for _, s := range states {
		switch {
		case s == len(p.Parts):
		case p.Plain:
			if p.Parts[s] == name {
				next = append(next, s+1)
			}
		case p.Parts[s] == "**":
			next = append(next, s)
		case p.Fold && MatchName(strings.ToLower(p.Parts[s]), strings.ToLower(name)), MatchName(p.Parts[s], name):
			next = append(next, s+1)
		}
	}
	return p.closure(next)
}

// Fresh is a name that no settings have.
const Fresh = "zz-some-name"

// instance is a name that a component of a pattern matches.
func instance(part string) string {
	if !Wild(part) {
		return part
	}
	return strings.NewReplacer("*", "zz", "?", "z").Replace(part)
}

// Wild reports whether a component has a wildcard.
func Wild(part string) bool { return strings.ContainsAny(part, "*?[") }

// MatchName compares a name with a component. Sets in brackets match any character: the meaning of a set
// differs between programs, and only patterns that deny are compared so.
func MatchName(part, name string) bool {
	if !Wild(part) {
		return part == name
	}
	for part != "" {
		switch c := part[0]; c {
		case '*':
			rest := strings.TrimLeft(part, "*")
			for i := range len(name) + 1 {
				if MatchName(rest, name[i:]) {
					return true
				}
			}
			return false
		case '?':
			_, n := utf8.DecodeRuneInString(name)
			if n == 0 {
				return false
			}
			part, name = part[1:], name[n:]
		case '[':
			end := strings.IndexByte(part, ']')
			_, n := utf8.DecodeRuneInString(name)
			if end < 0 || n == 0 {
				return false
			}
			part, name = part[end+1:], name[n:]
		default:
			if name == "" || c != name[0] {
				return false
			}
			part, name = part[1:], name[1:]
		}
	}
	return name == ""
}

// Split returns the components of a path.
func Split(abs string) []string {
	return slices.DeleteFunc(strings.Split(abs, "/"), func(s string) bool { return s == "" })
}

// Under reports whether an absolute path is dir or below it.
func Under(abs, dir string) bool {
	return dir == "/" || abs == dir || strings.HasPrefix(abs, dir+"/")
}
