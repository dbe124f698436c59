package winjob

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Lengths in UTF-16 units: of a component (learn.microsoft.com, "Maximum Path Length
// Limitation"), and of a path, which NTFS ends at 32,767; the rest is left for the prefix of
// the object manager.
const (
	maxComponent = 255
	maxPath      = 32_000
)

// path writes a location as Windows does, with backslashes. The symbol of a root in a portable
// specification stays as it is.
func path(t backends.Target, l ir.Location) string {
	p := t.Place(l)
	if symbol := l.Root.String(); symbol != "" {
		if rest, ok := strings.CutPrefix(p, symbol); ok {
			return symbol + backslashed(rest)
		}
	}
	if rest := strings.TrimPrefix(p, "/"); driveAbsolute(rest) || strings.HasPrefix(rest, "${") {
		p = rest
	}
	return backslashed(p)
}

func backslashed(p string) string { return strings.ReplaceAll(p, "/", `\`) }

// driveAbsolute reports whether a slash-separated path starts at the root of a drive.
func driveAbsolute(p string) bool {
	return len(p) >= 3 && (nameRune(p[0]) && lowered(p[0]) >= 'a' && lowered(p[0]) <= 'z') && p[1] == ':' && p[2] == '/'
}

// misplaced returns the reason why a location cannot carry an access list at all; empty if it
// can. Network paths are left out since a server judges by its own means, and a path of another
// form comes from facts about another system.
func misplaced(written string) string {
	switch {
	case units(written) > maxPath:
		return "the path is longer than 32000 characters"
	case strings.HasPrefix(written, `\\`):
		return "a network path cannot carry the access list of an AppContainer"
	case !strings.HasPrefix(written, "${") && !driveAbsolute(strings.ReplaceAll(written, `\`, "/")):
		return written + " is not an absolute path of Windows; compile for windows on the host where the tool is to run"
	default:
		return ""
	}
}

// impossible reports whether no file on NTFS can have a path, because of one of its
// components (learn.microsoft.com, "Naming Files, Paths, and Namespaces"). Names that
// only the Win32 interface reserves or shortens, such as CON or a trailing dot, are
// possible: a program reaches them by the \\?\ prefix, and so does the loader.
func impossible(l ir.Location) bool {
	below := l.Path
	if l.Root.Kind == ir.System && driveAbsolute(below+"/") {
		below = below[len("C:"):]
	}
	for name := range strings.SplitSeq(below, "/") {
		if !utf8.ValidString(name) || units(name) > maxComponent || strings.ContainsFunc(name, forbidden) {
			return true
		}
	}
	return false
}

// forbidden reports whether a name cannot contain a character. The backslash is here too: other
// systems allow it, and in a path it would separate components.
func forbidden(r rune) bool {
	switch r {
	case '<', '>', ':', '"', '|', '?', '*', '\\':
		return true
	default:
		return r < 0x20
	}
}

func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// fold returns the form in which two spellings of the same Windows path are equal. NTFS
// compares by an upper-case table of single characters and normalises nothing.
func fold(p string) string { return strings.ToUpper(p) }
