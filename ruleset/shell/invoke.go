package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// invocation is the start of a shell, read by the shell's own grammar.
type invocation struct {
	// at is the index of the first operand: a file, or with command the text of -c; 0 without an operand.
	at      int
	command bool
	// input is true for a shell that runs its input, or may.
	input bool
}

// Options of shells with the language of sh: words with a value in the next word, words without a value, and letters
// that take no value.
const (
	shellValues = " --rcfile --init-file "
	shellPlain  = " --debugger --dump-po-strings --dump-strings --help --login --noediting --noprofile --norc " +
		"--posix --restricted --verbose --version "
	shellLetters = "abefhiklmnprtuvxBCDEHP"
)

// invoke reads the words of a shell. Words that the shell reads in a way that is not known here may make it run its
// input.
// See decision D429.
func invoke(words []Word, name string) invocation {
	out := invocation{}
	i := 1
	for i < len(words) {
		w := words[i]
		if w.Form != Literal {
			out.input = true
		}
		t := w.Text
		if t == "-" || t == "--" {
			i++
			break
		}
		if len(t) < 2 || t[0] != '-' && t[0] != '+' {
			break
		}
		i += 1 + out.option(t)
	}
	if i < len(words) {
		out.at = i
	}
	plain := slices.Contains([]string{"sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh"}, name)
	out.input = out.input || out.at == 0 || !plain && out.at > 1 && !words[1].Is("-c")
	return out
}

// option reads a word of options, and returns the number of its values.
func (v *invocation) option(t string) int {
	if strings.HasPrefix(t, "--") {
		switch name := " " + t + " "; {
		case strings.Contains(shellValues, name):
			return 1
		case !strings.Contains(shellPlain, name):
			v.input = true
		}
		return 0
	}
	values := 0
	for i, c := range t[1:] {
		switch {
		case c == 'c':
			v.command = true
		case (c == 'o' || c == 'O') && i+2 == len(t):
			values++
		case !strings.ContainsRune(shellLetters, c):
			v.input = true // -s, values in the same word, letters of a single shell
		}
	}
	return values
}

// shell takes a shell's start apart: with -c and a literal text, the programs of the text.
func (a *analysis) shell(p *Part, name string) {
	s := shellOptions().scan(p, 1)
	v := invoke(p.Words, name)
	p.CodeOnInput = v.input
	if v.at == 0 {
		p.CodeOnInput = !s.harmless
		if !s.harmless {
			p.doubt(Always, "the shell runs what it reads")
		}
		return
	}
	if len(s.operands) == 0 || s.operands[0] != v.at {
		p.doubt(1, "an option of the shell is not known to be harmless")
	}
	w := p.Words[v.at]
	if !v.command || w.Form != Literal {
		p.CodeOnInput = p.CodeOnInput || isInput(w, p.Dirs)
		p.doubt(v.at, "the shell runs a file")
		return
	}
	in := a.code(w.Text, DialectOf(name), p.Dirs)
	in.From, in.Inside = v.at, true
	p.Through = p.Words[0].Text == name
	p.add(in)
}

// isInput reports whether a word that names a script may name the input.
func isInput(w Word, in dirs) bool {
	return w.Form != Literal || w.Text == "-" || isDevice(w.Text, in) || in == nil && number(w)
}

// isDevice reports whether a name may name an open file, started from some of the directories.
func isDevice(name string, in dirs) bool {
	if name == "/dev/null" {
		return false
	}
	at := in.join(name, true)
	if path.IsAbs(name) || at == nil {
		at = dirs{path.Clean(name)}
	}
	return openFile.Get().MatchString(name) || slices.ContainsFunc(at, func(s string) bool {
		s = "/" + strings.TrimLeft(s, "/")
		return openFile.Get().MatchString(s) || strings.HasPrefix(s, "/proc/") ||
			s != "/dev/null" && strings.HasPrefix(s, "/dev/")
	})
}

// openFile is a name that only open files have, whichever directory it is in.
var openFile = expression.Once{Text: `(^|/)(fd/+[0-9]+|stdin|stdout|stderr)/*$`}
