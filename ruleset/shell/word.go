package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// Form says how much of a word is known.
type Form uint8

// The forms of word.
const (
	// Literal is a word that is known whole.
	Literal Form = iota
	// Pattern is a word that the shell replaces by any number of words: names of files, a home
	// directory, alternatives in braces. Nothing runs for that.
	Pattern
	// Hidden is a word of which nothing is known.
	Hidden
)

// Word is a word of a command line without its quotes.
type Word struct {
	Form Form // how much is known
	// Text is the whole word if it is literal. If it is a pattern, it is the text with which every
	// word that it becomes begins.
	Text string
	// Wide is true for a pattern that may become a name elsewhere than below its text.
	Wide bool
	// Flat is true for a pattern with no slash behind its text.
	Flat bool
	// Alternatives is true for a pattern that may become words which are no names of files.
	Alternatives bool
	// Single is true for a hidden word that stays a single word, File for a hidden word that names an open file.
	Single, File bool
}

// Is reports whether the word is a literal one of this text.
func (w Word) Is(text string) bool { return w.Form == Literal && w.Text == text }

// MayBeOption reports whether the word may be, or become, an option.
func (w Word) MayBeOption() bool {
	return w.Text == "" && w.Form != Literal || strings.HasPrefix(w.Text, "-")
}

// readWord reads a word, and returns the name of the first expansion that runs or reads something,
// empty if there is none.
func readWord(w *syntax.Word) (Word, string) {
	if w.Lit() == "[" {
		return Word{Text: "["}, "" // the command
	}
	r := reader{brace: -1}
	for _, p := range w.Parts {
		if why := r.part(p); why != "" {
			_, file := p.(*syntax.ProcSubst)
			return Word{Form: Hidden, Wide: true, Single: single(w), File: file && len(w.Parts) == 1}, why
		}
	}
	out := Word{Form: r.form, Text: r.text.String()}
	if r.form == Pattern {
		whole := r.whole.String()
		out.Wide, out.Alternatives = wide(whole), r.brace >= 0
		out.Flat = strings.Count(whole, "/") == strings.Count(out.Text, "/")
	}
	return out, ""
}

// single reports whether quotes keep a word with expansions one word. "$@" and its kin become several.
func single(w *syntax.Word) bool {
	for _, p := range w.Parts {
		quoted, ok := p.(*syntax.DblQuoted)
		if !ok {
			return false
		}
		for _, q := range quoted.Parts {
			if x, is := q.(*syntax.ParamExp); is &&
				(x.Param == nil || x.Param.Value == "@" || x.Index != nil || x.Excl) {
				return false
			}
		}
	}
	return true
}

// reader puts the text of a word together.
type reader struct {
	form Form
	text strings.Builder
	// whole is the text with its patterns.
	whole strings.Builder
	// previous is the last unquoted character.
	previous byte
	begun    bool
	// brace is the length of the text in front of the first unquoted brace, -1 without a brace.
	brace int
}

func (r *reader) part(p syntax.WordPart) (why string) {
	switch p := p.(type) {
	case *syntax.Lit:
		r.unquoted(p.Value)
	case *syntax.SglQuoted:
		if p.Dollar {
			return "$'…' is decoded by the shell"
		}
		r.quoted(p.Value)
	case *syntax.DblQuoted:
		if p.Dollar {
			return `$"…" is translated by the shell`
		}
		for _, q := range p.Parts {
			l, ok := q.(*syntax.Lit)
			if !ok {
				return expansion(q)
			}
			r.quoted(unescapeQuoted(l.Value))
		}
		r.quoted("")
	default:
		return expansion(p)
	}
	return ""
}

func (r *reader) quoted(s string) {
	r.whole.WriteString(s)
	if r.form == Literal {
		r.text.WriteString(s)
	}
	r.begun, r.previous = true, 0
}

// unquoted adds a text in which backslashes quote and patterns have their meaning.
func (r *reader) unquoted(s string) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			i++
			r.quoted(s[i : i+1])
			continue
		case c == '*' || c == '?' || c == '[':
			r.form = Pattern
		case c == '{' && r.brace < 0:
			r.brace = r.text.Len()
		case r.brace >= 0 && (c == ',' || c == '.' && r.previous == '.'):
			// Shells differ about which braces belong together: bash expands a{b}c,d} as well.
			text := r.text.String()[:r.brace]
			r.text.Reset()
			r.text.WriteString(text)
			r.form = Pattern
		case c == '~' && (!r.begun || r.previous == '=' || r.previous == ':'):
			r.form = Pattern
		}
		if r.form == Literal {
			r.text.WriteByte(c)
		}
		r.whole.WriteByte(c)
		r.begun, r.previous = true, c
	}
}

// unescapeQuoted removes the backslashes that quote between double quotes (POSIX shell, 2.2.3).
func unescapeQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\", s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// expansion names the text that a part of a word is replaced by.
func expansion(p syntax.WordPart) string {
	switch p.(type) {
	case *syntax.ParamExp:
		return "the value of a variable is not known"
	case *syntax.CmdSubst:
		return "the output of a command is not known"
	case *syntax.ProcSubst:
		return "a process substitution runs beside the command"
	case *syntax.ArithmExp:
		return "arithmetic can run commands"
	case *syntax.ExtGlob:
		return "an extended pattern depends on settings of the shell"
	default:
		return "an expansion is not known"
	}
}

// wide reports whether a pattern may become a name with "..", by a dot or a bracket that begins an element or an
// alternative.
func wide(pattern string) bool {
	return strings.Contains(pattern, "..") || strings.HasPrefix(pattern, "~") || dots.Get().MatchString(pattern)
}

var dots = expression.Once{Text: `(^|[/{,}])(\.([/{,}*?\[]|$)|\[)`}
