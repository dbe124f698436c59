// Package gitconfig judges a change of a repository's configuration by its text.
package gitconfig

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxSize is the largest configuration that is judged.
const MaxSize = 1 << 20

// Keys are the variables of a branch that may be set: they name a branch, an existing remote, or a way to follow it.
var Keys = [...]string{"remote", "merge", "rebase", "description", "vscode-merge-base", "gh-merge-base"}

var errUnusual = errors.New("a line that git itself does not write")

// Amends is nil where a configuration differs from the one before in sections of branches alone, and each variable
// that was added there is one of Keys with a harmless value. Variables of branches may be removed. A text that is not
// written as git writes it is an error, whatever it means.
// See RATIONALE D411.
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
	for _, v := range b.branches {
		if !slices.Contains(a.branches, v) && !a.harmless(v) {
			return fmt.Errorf("branch.%s.%s is not to be set so", v.branch, v.key)
		}
	}
	return nil
}

// text is a configuration taken apart: the variables of its branches, and the lines of all other sections.
type text struct {
	branches []variable
	rest     []string
	remotes  []string
}

type variable struct{ branch, key, value string }

// parse takes a text apart line by line. A line is empty, a comment, the head of a section or a variable, and none goes
// on in the next.
func parse(data []byte) (*text, error) {
	if len(data) > MaxSize || len(data) > 0 && data[len(data)-1] != '\n' {
		return nil, errUnusual
	}
	t := &text{}
	section, sub := "", ""
	for line := range bytes.Lines(data) {
		line := string(line[:len(line)-1])
		if strings.ContainsFunc(line, control) {
			return nil, errUnusual
		}
		trimmed := strings.TrimLeft(line, " \t")
		var v variable
		ok := true
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		case trimmed[0] == '[':
			section, sub, ok = head(trimmed)
		default:
			v.key, v.value, ok = assigned(trimmed)
			ok = ok && section != ""
		}
		switch {
		case !ok:
			return nil, errUnusual
		case section == "branch" && v.key != "":
			v.branch = sub
			t.branches = append(t.branches, v)
		case section != "branch":
			t.rest = append(t.rest, line)
			if section == "remote" && v.key == "url" {
				t.remotes = append(t.remotes, sub)
			}
		}
	}
	return t, nil
}

// control reports whether a character is one that git writes in no line but for the tab.
func control(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f || c == 0xfeff }

// head reads the head of a section: [name] or [name "subsection"], and nothing behind it.
func head(line string) (section, sub string, ok bool) {
	inner, ok := strings.CutSuffix(strings.TrimPrefix(line, "["), "]")
	if !ok {
		return "", "", false
	}
	section, quoted, has := strings.Cut(inner, " ")
	if section == "" || strings.Trim(section, letters+".") != "" {
		return "", "", false
	}
	section = strings.ToLower(section)
	if !has {
		// [branch] has no branch, and [branch.x] is an old form.
		return section, "", section != "branch" && !strings.HasPrefix(section, "branch.")
	}
	sub, ok = unquote(quoted)
	return section, sub, ok && quoted[0] == '"' && quoted[len(quoted)-1] == '"' && strings.Count(quoted, `"`)-strings.Count(quoted, `\"`) == 2
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

// assigned reads a variable in a line of its own.
func assigned(line string) (key, value string, ok bool) {
	key, value, has := strings.Cut(line, "=")
	key = strings.ToLower(strings.TrimRight(key, " \t"))
	if key == "" || strings.Trim(key, letters) != "" || '0' <= key[0] && key[0] <= '9' || key[0] == '-' {
		return "", "", false
	}
	if !has {
		return key, "true", true
	}
	value, ok = unquote(strings.Trim(value, " \t"))
	return key, value, ok
}

// unquote reads a value, or a quoted subsection: quotes that are closed, and escapes that git knows. A comment behind a
// value is no value that git writes.
func unquote(s string) (string, bool) {
	var out strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			if i++; i == len(s) || !strings.ContainsRune(`"\ntb`, rune(s[i])) {
				return "", false
			}
			out.WriteString(s[i-1 : i+1])
		case !quoted && (c == '#' || c == ';'):
			return "", false
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), !quoted
}

// harmless reports whether a variable of a branch may be set.
func (t *text) harmless(v variable) bool {
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
	return s != "" && s[0] != '-' && !strings.ContainsAny(s, " \t~^:?*[\\\"'$`;&|<>()") && !strings.Contains(s, "..") &&
		!strings.Contains(s, "@{") && !strings.Contains(s, "//") && !strings.HasSuffix(s, "/") && !strings.HasSuffix(s, ".lock")
}
