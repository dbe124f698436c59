package resolve

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Errors of the steps that do not look at the disk. Users read their texts behind the caret.
var (
	// ErrAbsolute: the path is absolute.
	ErrAbsolute = errors.New("found an absolute path, expected one relative to the workspace root")
	// ErrLeaves: the path, with ".." collapsed, leaves the workspace.
	ErrLeaves = errors.New(`found a path that leaves the workspace by ".."`)
	// ErrLeavesHome: the path, with ".." collapsed, leaves the home directory that it begins at.
	ErrLeavesHome = errors.New(`found a path that leaves the home directory by ".."`)
	// ErrUser: the path begins with "~" and is in no home directory of the user.
	ErrUser = errors.New(`found "~" before a name, expected ~/ for your home directory`)
	// ErrVariable: the path begins with "$".
	ErrVariable = errors.New(`found "$", and no variable stands for its value in a path`)
	// ErrNoHome: the path of the home directory is not known.
	ErrNoHome = errors.New("the path of the home directory is not known")
	// ErrEmpty: there is no path.
	ErrEmpty = errors.New(`found an empty path; the workspace itself is "."`)
)

// TextError is the reason why a path cannot be written for every target.
type TextError struct {
	Why string // the reason, for messages
}

// Error implements error.
func (e *TextError) Error() string { return e.Why }

// maxPath bounds a rule's path in bytes: Seatbelt reads string literals of at most
// about a thousand (backends/seatbelt), and the root comes in front.
const maxPath = 800

// CheckText refuses text that some target cannot write or would read differently: control
// characters (Seatbelt profiles, terminals), backslashes (separators on Windows), double quotes
// (impossible on Windows, escapes everywhere else), invalid UTF-8, and paths that are too long.
// See decision D12.
func CheckText(p string) error {
	if len(p) > maxPath {
		return &TextError{fmt.Sprintf("found %d bytes, expected at most %d", len(p), maxPath)}
	}
	if !utf8.ValidString(p) {
		return &TextError{"found invalid UTF-8"}
	}
	for _, r := range p {
		switch {
		case r == '\\':
			return &TextError{`found a backslash, expected "/" between components`}
		case r == '"':
			return &TextError{"found a double quote, which no Windows file name can hold"}
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return &TextError{fmt.Sprintf("found the control character %U", r)}
		}
	}
	return nil
}

// Lexical collapses a workspace-relative path without looking at the disk. The
// workspace root is the empty path.
// See decision D108.
func Lexical(p string) (string, error) {
	if p == "" {
		return "", ErrEmpty
	}
	if strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`) || hasDrive(p) {
		return "", ErrAbsolute
	}
	c := path.Clean(p)
	switch {
	case c == ".":
		return "", nil
	case c == ".." || strings.HasPrefix(c, "../"):
		return "", ErrLeaves
	}
	return c, nil
}

// RuleName collapses the path of a rule without looking at the disk: a path of the user's home, "~" or "~/x", an
// absolute path, or a path of the workspace, whose root is the empty path. Only names of the first two kinds are
// Direct.
// See decision D180.
func RuleName(p string) (string, error) {
	switch {
	case strings.HasPrefix(p, "$"):
		return "", ErrVariable
	case p == "~" || strings.HasPrefix(p, "~/"):
		c := path.Clean("." + p[1:])
		if c == ".." || strings.HasPrefix(c, "../") {
			return "", ErrLeavesHome
		}
		return strings.TrimSuffix("~/"+c, "/."), nil
	case strings.HasPrefix(p, "~"):
		return "", ErrUser
	case strings.HasPrefix(p, "/") || hasDrive(p) && len(p) > 2:
		return path.Clean(p), nil
	}
	return Lexical(p)
}

// hasDrive reports whether p starts with a Windows drive such as "C:/".
func hasDrive(p string) bool {
	if len(p) < 2 || p[1] != ':' {
		return false
	}
	letter := p[0] | 0x20
	return 'a' <= letter && letter <= 'z' && (len(p) == 2 || p[2] == '/' || p[2] == '\\')
}

// Below reports whether a slash-separated path is base or lies below it, and the rest.
func Below(path, base string) (rest string, ok bool) {
	if path == base {
		return "", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(base, "/")+"/")
}
