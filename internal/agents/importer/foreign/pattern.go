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
	parts []string
	// fold has names match in any case.
	fold bool
	// plain has wildcards be characters of names.
	plain bool
}

// NewPattern returns the pattern of an absolute path.
func NewPattern(abs string) Pattern {
	parts := split(abs)
	for i, p := range parts {
		if p != "**" && strings.Contains(p, "**") {
			// Programs differ on "a**": the widest reading is any number of components.
			parts = append(slices.Clone(parts[:i]), "**")
			break
		}
	}
	return Pattern{parts: parts}
}

// Literal reports whether a pattern has no wildcard.
func (p Pattern) Literal() bool { return p.plain || !slices.ContainsFunc(p.parts, wild) }

// String is the absolute path.
func (p Pattern) String() string { return "/" + strings.Join(p.parts, "/") }

// Name is the last component of a pattern of names at any depth, empty for another one.
func (p Pattern) Name() string {
	if n := len(p.parts); n > 1 && p.parts[n-2] == "**" && p.parts[n-1] != "**" {
		return p.parts[n-1]
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
	names := split(abs)
	states := p.closure([]int{0})
	for i := 0; ; i++ {
		if slices.Contains(states, len(p.parts)) {
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
	for _, part := range p.parts {
		abs = strings.TrimLeft(abs, "/")
		name, rest, _ := strings.Cut(abs, "/")
		switch {
		case name == "", !p.plain && wild(part):
			return false
		case name != part:
			return p.plain || !p.fold || differ(part, name)
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
	for _, name := range split(dir) {
		if slices.Contains(states, len(p.parts)) {
			return []string{dir}
		}
		states = p.step(states, name)
	}
	var out []string
	for _, s := range states {
		at := dir
		for _, part := range p.parts[s:] {
			if part == "**" {
				part = fresh // none at all is a state of its own
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
		if s := states[i]; !p.plain && s < len(p.parts) && p.parts[s] == "**" && !slices.Contains(states, s+1) {
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
		case s == len(p.parts):
		case p.plain:
			if p.parts[s] == name {
				next = append(next, s+1)
			}
		case p.parts[s] == "**":
			next = append(next, s)
		case p.fold && matchName(strings.ToLower(p.parts[s]), strings.ToLower(name)), matchName(p.parts[s], name):
			next = append(next, s+1)
		}
	}
	return p.closure(next)
}

// fresh is a name that no settings have.
const fresh = "zz-some-name"

// instance is a name that a component of a pattern matches.
func instance(part string) string {
	if !wild(part) {
		return part
	}
	return strings.NewReplacer("*", "zz", "?", "z").Replace(part)
}

func wild(part string) bool { return strings.ContainsAny(part, "*?[") }

// matchName compares a name with a component. Sets in brackets match any character: the meaning of a set
// differs between programs, and only patterns that deny are compared so.
func matchName(part, name string) bool {
	if !wild(part) {
		return part == name
	}
	for part != "" {
		switch c := part[0]; c {
		case '*':
			rest := strings.TrimLeft(part, "*")
			for i := range len(name) + 1 {
				if matchName(rest, name[i:]) {
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

func split(abs string) []string {
	return slices.DeleteFunc(strings.Split(abs, "/"), func(s string) bool { return s == "" })
}

// under reports whether an absolute path is dir or below it.
func under(abs, dir string) bool {
	return dir == "/" || abs == dir || strings.HasPrefix(abs, dir+"/")
}
