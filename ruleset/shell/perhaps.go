package shell

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// Bounds of the words that are looked at for commands. Beyond them a program may run any.
const (
	maxGuessed  = 64    // words of one program
	maxGlued    = 8     // letters in front of a command within a word
	maxGuessing = 2     // texts within texts
	maxGuesses  = 40000 // bytes of all texts
)

// Perhaps are the commands that a program may run since some of its words are not understood: each command that begins
// with a word, or with a part of a word, and each text that a shell could run. All is true for a program that may run
// any command: code that is not read, input that is code, words that are not literal.
// See decision D429.
func (p *Part) Perhaps(d Dialect) (found []*Part, all bool) {
	g := &guessing{dialect: d, left: maxGuesses}
	all = g.part(p, 0)
	return g.found, all
}

// guessing is a run of Perhaps.
type guessing struct {
	dialect Dialect
	left    int // bytes that may still be parsed
	found   []*Part
}

// part looks for commands in the words of a part, and reports whether it may run any.
func (g *guessing) part(p *Part, depth int) bool {
	if p.Kind != Program && p.Kind != Opaque {
		return false
	}
	for _, w := range p.Assigned {
		if g.word(p, w, nil, depth) {
			return true
		}
	}
	if p.Kind == Opaque {
		return !p.Seen || slices.ContainsFunc(p.Names, configures)
	}
	name := base(p.Words[0].Text)
	switch {
	case p.renames(name):
		return true
	case p.Words[0].Form != Literal, p.CodeOnInput, p.CodeInWords, p.Fed && p.runsWhatItReads(name):
		return true
	case len(p.Doubts) == 0, acting()[name] && !elsewhere(p.Words[0].Text):
		return false
	case len(p.Words) > maxGuessed, p.disguises(name):
		return true
	}
	return g.words(p, name, depth)
}

// runsWhatItReads reports whether a program may take commands from its standard input: a starter, a program that no
// table has, and a wrapper without a command.
func (p *Part) runsWhatItReads(name string) bool {
	e, why := program(name), starters()[name]
	switch {
	case e != nil && !e.wraps:
		return len(p.Doubts) > 0 && (e.spelled || p.unknownSubcommand(e))
	case e != nil:
		return !slices.ContainsFunc(p.Parts, func(q *Part) bool { return q.Kind == Program })
	case why != "":
		return strings.HasPrefix(why, "runs ")
	}
	if interprets(name) {
		return edits(name, p.Words) || len(p.Words) > 2 && p.Words[1].Is("-m") && modules()[p.Words[2].Text] == nil
	}
	return !listed(name) && state()[name] == ""
}

// unknownSubcommand reports whether the table of a program lists subcommands, and not this subcommand.
func (p *Part) unknownSubcommand(e *entry) bool {
	return e.sub != nil && p.First < len(p.Words) && e.sub[p.Words[p.First].Text] == nil
}

// words looks for commands in the words behind the name and a subcommand that the table knows.
func (g *guessing) words(p *Part, name string, depth int) bool {
	e, from := program(name), 1
	if e != nil && p.First < len(p.Words) && e.sub[p.Words[p.First].Text] != nil {
		from = p.First + 1
	}
	for i := from; i < len(p.Words); i++ {
		w := p.Words[i]
		reads := e != nil && !e.wraps && !e.spelled && !strings.HasPrefix(e.why, "runs ") && !p.unknownSubcommand(e)
		if slices.Contains(p.Values, i) || w.File && reads || w.Form == Hidden && !p.hides(name, i) {
			continue
		}
		if name == "git" && p.unknownSubcommand(e) {
			g.found = append(g.found, g.analysis().program(append([]Word{p.Words[0]}, p.Words[i:]...), p.Dirs))
		}
		if g.word(p, w, p.Words[i+1:], depth) {
			return true
		}
	}
	return false
}

// word looks for commands that begin in a word, with the words behind it.
func (g *guessing) word(p *Part, w Word, rest []Word, depth int) bool {
	switch {
	case w.Form == Hidden, w.Wide, w.Alternatives, isDevice(w.Text, p.Dirs):
		return true
	case w.Form == Pattern:
		return false // names of files
	}
	all := false
	for _, text := range beginnings(w.Text) {
		g.analysis().program(append([]Word{{Text: text}}, rest...), p.Dirs).Each(func(q *Part) {
			g.found = append(g.found, q)
			all = all || q.Kind == Opaque || q.CodeInWords || q.CodeOnInput && p.Fed ||
				q.Kind == Program && q.renames(base(q.Words[0].Text))
		})
	}
	return all || g.text(w.Text, depth)
}

// analysis takes a text apart by itself.
func (g *guessing) analysis() *analysis { return &analysis{left: g.left, dialect: g.dialect} }

// text looks for commands in a text that a shell may run, and reports whether they may be any.
func (g *guessing) text(text string, depth int) bool {
	if plainName.Get().MatchString(text) || namePattern.Get().MatchString(text) {
		return false
	}
	if depth >= maxGuessing {
		return true
	}
	for _, code := range codes(text) {
		if g.left -= len(code); g.left < 0 {
			return true
		}
		all := false
		g.analysis().code(code, g.dialect, nil).Each(func(q *Part) {
			g.found = append(g.found, q)
			all = all || g.part(q, depth+1)
		})
		if all {
			return true
		}
	}
	return false
}

// plainName is a word without characters that mean anything to a shell.
var plainName = expression.Once{Text: `^[A-Za-z0-9_./:=@%+,^-]*$`}

// namePattern is a pattern of the names of files.
var namePattern = expression.Once{Text: `^([A-Za-z0-9_./@-]*/)?\*[A-Za-z0-9_./*@-]*$`}

// beginnings are the texts of a word that may begin a command: the whole, the value of an option or a setting, and
// the letters behind short options; each also without the mark that has a program hand it to a shell.
func beginnings(word string) []string {
	out := []string{word}
	for at, c := range word {
		if strings.ContainsRune("=:,", c) {
			out = append(out, word[at+1:])
		}
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		for at := 2; at < min(len(word), 2+maxGlued); at++ {
			out = append(out, word[at:])
		}
	}
	for _, s := range slices.Clone(out) {
		out = append(out, strings.TrimLeft(s, "!|@+ "))
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" })
}

// codes are the texts of a word that a shell may run.
func codes(word string) []string {
	return slices.DeleteFunc(beginnings(word), func(s string) bool {
		return s[0] == '-' || !strings.ContainsAny(s, notPlain)
	})
}

// notPlain are the characters because of which a text is more than a name.
const notPlain = " \t\n'\"\\$`;&|<>(){}*?[]~#!"
