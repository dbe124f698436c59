// Package gitconfig judges a change of a repository's configuration by its text.
package gitconfig

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxSize is the largest configuration that is judged.
	MaxSize = 1 << 20
	// longest is the longest new line. Git before 2.39.3 took the rest of a longer line for the next line when
	// it renamed or removed a section (CVE-2023-29007).
	longest = 1000
)

// Keys are the variables of a branch that may be set: they name a branch, an existing remote, or a way to follow it.
var Keys = [...]string{"remote", "merge", "rebase", "description", "vscode-merge-base", "gh-merge-base"}

var (
	errSize    = errors.New("more than is judged, or a zero byte")
	errUnusual = errors.New("a line in the section of a branch that git itself does not write")
)

// Amends is nil where a configuration differs from the configuration before only in sections of branches, and each
// variable that was added there is one of Keys with a harmless value. Variables of branches may be removed. All other
// lines stay byte for byte. A line that is new is written exactly as git writes it.
// See decision D411.
func Amends(before, after []byte) error {
	a, err := parse(before)
	if err != nil {
		return fmt.Errorf("the configuration has %w", err)
	}
	b, err := parse(after)
	if err != nil {
		return fmt.Errorf("the new configuration has %w", err)
	}
	if !slices.Equal(a.rest, b.rest) {
		return errors.New("more than variables of branches would change")
	}
	raws := map[string]bool{"\n": true}
	known := map[of]bool{}
	for _, l := range a.branches {
		raws[l.raw], known[of{l.sub, l.raw}] = true, true
	}
	for _, l := range b.branches {
		switch {
		case known[of{l.sub, l.raw}]:
		case !raws[l.raw] && (l.raw != l.written() || len(l.raw) > longest):
			return errUnusual
		case l.key != "" && !a.harmless(l):
			return fmt.Errorf("branch.%s.%s is not to be set so", l.sub, l.key)
		}
	}
	return nil
}

// of is a line in the section of a branch.
type of struct{ sub, raw string }

// text is a configuration taken apart: the lines in sections of branches, and all others.
type text struct {
	branches []line
	rest     []string
	remotes  []string
}

// parse takes a text apart. The section of a branch begins with a head as git writes it, in a line of its own; any
// other spelling is among the rest. It ends before the next line with a head.
func parse(data []byte) (*text, error) {
	if len(data) > MaxSize || bytes.IndexByte(data, 0) >= 0 {
		return nil, errSize
	}
	all, err := lines(string(data))
	if err != nil {
		return nil, err
	}
	t := &text{}
	branch := false
	for _, l := range all {
		if l.heads {
			branch = l.isBranch()
		}
		switch {
		case branch:
			t.branches = append(t.branches, l)
		default:
			t.rest = append(t.rest, l.raw)
			if l.section == "remote" && l.key == "url" {
				t.remotes = append(t.remotes, l.sub)
			}
		}
	}
	return t, nil
}

// isBranch reports whether a line is the head of a branch's section and nothing more.
func (l line) isBranch() bool {
	head := strings.TrimSuffix(strings.TrimSuffix(l.raw, "\n"), "\r") + "\n"
	return l.section == "branch" && l.key == "" && head == branchHead(l.sub) && !strings.ContainsFunc(l.sub, control)
}

// written is a line of a branch's section as git writes it, empty where git does not.
func (l line) written() string {
	switch {
	case l.heads && strings.ContainsAny(l.sub, ` [\~^:?*`):
		return "" // no branch has these in its name
	case l.heads:
		return branchHead(l.sub)
	case l.key == "" || strings.ContainsFunc(strings.NewReplacer("\n", "", "\t", "").Replace(l.value), control):
		return ""
	default:
		return variableLine(l.key, l.value)
	}
}

// control reports whether git escapes a character, or writes it in no name.
func control(c rune) bool { return c < ' ' || c == 0x7f || c == 0xfeff }

// harmless reports whether a variable of a branch may be set.
func (t *text) harmless(v line) bool {
	switch {
	case !slices.Contains(Keys[:], v.key):
		return false
	case v.key == "remote":
		return v.value == "." || slices.Contains(t.remotes, v.value)
	case v.key == "merge":
		return strings.HasPrefix(v.value, "refs/") && isName(v.value)
	case v.key == "rebase":
		return slices.Contains([]string{"true", "false", "merges", "interactive"}, v.value)
	case v.key == "description":
		return true
	default:
		return isName(v.value)
	}
}

// isName reports whether git takes a text for the name of a reference (git-check-ref-format(1)).
func isName(s string) bool {
	return s != "" && s[0] != '-' && !strings.ContainsFunc(s, control) &&
		!strings.ContainsAny(s, " \t~^:?*[\\\"'$`;&|<>()") && !strings.Contains(s, "..") &&
		!strings.Contains(s, "@{") && !strings.Contains(s, "//") &&
		!strings.HasSuffix(s, "/") && !strings.HasSuffix(s, ".lock")
}
