package shell

import (
	"reflect"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/accessc/accessc/internal/text/visible"
)

// Dialect is a shell's language.
type Dialect uint8

// The dialects.
const (
	// Foreign is a shell whose language is not known here.
	Foreign Dialect = iota
	// Bash is the language of GNU bash.
	Bash
	// POSIX is the language of sh, whichever shell that is: a line is read as POSIX has it, and as bash.
	POSIX
)

// String returns the name of the shell, empty for a foreign shell.
func (d Dialect) String() string {
	switch d {
	case Bash:
		return "bash"
	case POSIX:
		return "sh"
	case Foreign:
	}
	return ""
}

// DialectOf returns the dialect of a shell, given by name or path.
func DialectOf(shell string) Dialect {
	switch base(shell) {
	case "bash":
		return Bash
	case "sh", "dash":
		return POSIX
	default:
		return Foreign
	}
}

// Bounds of a line. Longer lines are opaque.
const (
	// MaxLine is the greatest length of a line in characters.
	MaxLine = 10_000
	// maxDepth bounds commands inside of commands.
	maxDepth = 16
	// maxText bounds the text that is parsed for one line, commands in strings included, in bytes.
	maxText = 8 * MaxLine
	// maxDirs bounds the working directories that a part may have.
	maxDirs = 8
)

// Analyze takes a line apart, as a shell of the dialect would run it in the directory dir. The
// directory is absolute, or empty where it is not known.
// See decision D130.
func Analyze(line string, dialect Dialect, dir string) *Part {
	a := &analysis{left: maxText}
	at := dirs(nil)
	if dir != "" {
		at = dirs{dir}
	}
	if utf8.RuneCountInString(line) > MaxLine {
		return &Part{Kind: Opaque, Text: line, Why: "the line has more than 10,000 characters"}
	}
	return a.code(line, dialect, at)
}

// analysis is a run of Analyze.
type analysis struct {
	left  int // bytes that may still be parsed
	depth int
	begun int // commands in words of programs that no table has
	// The text that is being parsed, and its dialect.
	src     string
	dialect Dialect
}

// code takes a text apart that a shell runs.
func (a *analysis) code(src string, dialect Dialect, in dirs) *Part {
	out := &Part{Kind: Group, Text: src}
	if a.depth >= maxDepth {
		return &Part{Kind: Opaque, Text: src, Why: "commands are nested too deep"}
	}
	if why := unreadable(src, dialect); why != "" {
		out.Kind, out.Why = Opaque, why
	}
	// A backslash before a newline is read in different ways by different parsers. What follows
	// from its meaning in POSIX is visible, and nothing more is concluded.
	src = strings.ReplaceAll(src, "\\\n", "")
	a.depth++
	defer func(src string, d Dialect) { a.src, a.dialect = src, d; a.depth-- }(a.src, a.dialect)
	a.src, a.dialect = src, dialect
	parts := a.parse(syntax.LangBash, in)
	if dialect == POSIX {
		// Many a sh is bash, and then reads $'…' and <(…) by its own rules.
		posix := a.parse(syntax.LangPOSIX, in)
		if !reflect.DeepEqual(parts, posix) {
			parts = append(posix, parts...)
		}
	}
	if out.Kind == Group && len(parts) == 1 {
		return parts[0]
	}
	out.add(parts...)
	return out
}

// parse takes the current text apart by the grammar of a language.
func (a *analysis) parse(lang syntax.LangVariant, in dirs) []*Part {
	opaque := func(why string) []*Part { return []*Part{{Kind: Opaque, Text: a.src, Why: why}} }
	if a.left -= len(a.src); a.left < 0 {
		return opaque("commands are nested too deep")
	}
	file, err := syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true)).Parse(strings.NewReader(a.src), "")
	switch {
	case err != nil:
		return opaque("this is no complete command of the shell")
	case len(file.Stmts) == 0:
		return opaque("there is no command")
	}
	parts, _ := a.list(file.Stmts, in)
	if a.hides(file) {
		return append(opaque("a comment begins inside of a word"), parts...)
	}
	return parts
}

// hides reports whether something that is a comment for the parser is part of a word for a shell,
// which runs the text behind it: (echo 'a'#; b. A comment begins behind a blank or an operator.
// See decision D165.
func (a *analysis) hides(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			at := int(c.Hash.Offset())
			found = found || at > 0 && !strings.ContainsRune(" \n;&|()", rune(a.src[at-1]))
		}
		return !found
	})
	return found
}

// unreadable returns the reason why a text is never allowed, whatever it parses to.
func unreadable(src string, dialect Dialect) string {
	switch {
	case dialect == Foreign:
		return "the language of this shell is not known"
	case strings.Contains(src, "\\\n"):
		return "a backslash stands before the end of a line"
	case strings.HasSuffix(src, `\`):
		return "a backslash stands at the end"
	case !utf8.ValidString(src):
		return "the text is not UTF-8"
	}
	for _, r := range src {
		if r != '\n' && visible.Hidden(r) {
			return "a character is not visible"
		}
	}
	return ""
}

// text returns the source of a node.
func (a *analysis) text(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(a.src) {
		return ""
	}
	return a.src[from:to]
}
