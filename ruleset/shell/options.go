package shell

import (
	"slices"
	"strings"
)

// role is the meaning of an option for the decision.
type role uint8

const (
	// plain is an option without a value.
	plain role = iota
	// takes is an option with a value of no importance.
	takes
	// may is an option whose value, if it has one, is part of the same word.
	may
	// writes and reads are options whose value is a file, enters an option whose value is the working directory.
	writes
	reads
	enters
	// mayRead is an option whose value is a file behind an "@".
	mayRead
	// runsCode is an option whose value a shell runs.
	runsCode
	// runsWordsOf is an option that runs the following words up to ";" or "{} +".
	runsWordsOf
	// inside is an option whose value is a name of the project, or a list of such, fills an option whose value is a
	// directory in which any files are written.
	inside
	fills
	// family is an option with anything of few characters behind its name, in the same word.
	family
)

// marks are the characters that stand for roles behind the names in a table.
var marks = [...]role{
	'=': takes, '?': may, '>': writes, '<': reads, '@': enters, '^': mayRead,
	'!': runsCode, '%': runsWordsOf, '/': inside, '&': fills, '*': family,
}

// grammar is the form of a program's arguments. Options that it does not list are doubts: a list
// of those that do harm is never complete.
// See decision D131.
type grammar struct {
	roles map[string]role
	// long is true where one dash begins a whole name and "--" has no meaning, as in find; whole where one dash begins
	// a whole name; apart where letters combine, and the value is the next word. Only other programs read options as
	// getopt does: letters combine, and the value may stand behind its letter.
	// See decision D131.
	long, whole, apart bool
	// number is true where a dash and digits are an option.
	number bool
	// early is true where the first operand ends the options.
	early bool
	// behind are the options of another program that may stand behind "--"; nil where operands do.
	behind *grammar
	// passes is true where words behind "--" are for a script of the project.
	passes bool
	// families are the names of options with anything behind them.
	families []string
	// values reports whether the value of an option is doubtful; nil doubts none.
	values func(option, value string) bool
}

// newGrammar reads a table: names with the mark of their role, separated by blanks. "-#" stands for
// numbers. The text behind "--" is the table for words behind it.
func newGrammar(table string) grammar {
	g := grammar{roles: map[string]role{}}
	table, behind, ok := strings.Cut(table, " -- ")
	if ok {
		more := newGrammar(behind)
		g.behind = &more
	}
	for _, name := range strings.Fields(table) {
		if name == "-#" {
			g.number = true
			continue
		}
		r := plain
		if last := len(name) - 1; last > 0 && int(name[last]) < len(marks) && marks[name[last]] != plain {
			name, r = name[:last], marks[name[last]]
		}
		if r == family {
			g.families = append(g.families, name)
			continue
		}
		g.roles[name] = r
	}
	return g
}

// option is an option of a command line, with its value or its command.
type option struct {
	name  string
	role  role
	at    int // index of its word
	from  int // index of the word of its value or command
	value Word
	words []Word
}

// scanned is the result of reading a program's arguments.
type scanned struct {
	found    []option
	operands []int
	// first is the index of the first operand, or the number of words.
	first int
	// dashes is the index of the word "--", 0 without it.
	dashes int
	// harmless is true where there are options and all of them only ask for words about the
	// program.
	harmless bool
	// strange are the words with an option that is not known.
	strange []string
}

// option returns the word of an option, -1 if it is not there.
func (s *scanned) option(name string) int {
	for _, o := range s.found {
		if o.name == name {
			return o.at
		}
	}
	return -1
}

// scan reads the arguments of a program from a word on, and adds a doubt for each that the table
// does not know.
func (g grammar) scan(p *Part, from int) *scanned {
	s := &scanned{first: len(p.Words)}
	for i := from; i < len(p.Words); i++ {
		w := p.Words[i]
		if w.Is("--") && !g.long {
			s.dashes = i
			g.dashes(p, s, from, i)
			break
		}
		if w.Form != Literal && w.MayBeOption() {
			p.doubt(i, "a word may become an option")
		}
		if len(w.Text) < 2 || w.Text[0] != '-' {
			s.rest(i, i+1)
			if g.early {
				s.rest(i+1, len(p.Words))
				break
			}
			continue
		}
		i += g.one(p, s, i)
	}
	s.harmless = len(s.found) > 0
	for _, o := range s.found {
		s.harmless = s.harmless && (o.name == "--version" || o.name == "--help")
	}
	return s
}

// dashes reads the words behind "--", of which the program's own begin at from.
func (g grammar) dashes(p *Part, s *scanned, from, at int) {
	if g.behind != nil {
		more := g.behind.scan(p, at+1)
		s.found = append(s.found, more.found...)
		for _, i := range more.operands {
			if given(p.Words[i].Text) || p.Words[i].Wide {
				p.doubt(i, "an argument names further ones, or a file outside")
			}
		}
	}
	if g.passes && slices.ContainsFunc(p.Words[at:], func(w Word) bool { return w.MayBeOption() && !w.Is("--") }) {
		script := at - 1
		switch {
		case len(s.operands) > 0:
			script = s.operands[0]
		case strings.HasPrefix(p.Words[from-1].Text, "run"):
			script = at + 1 // npm run -- SCRIPT
		}
		p.doubt(script, "an option is for a program of the project")
	}
	s.rest(at+1, len(p.Words))
}

// rest adds operands.
func (s *scanned) rest(from, to int) {
	for i := from; i < to; i++ {
		if s.first > i {
			s.first = i
		}
		s.operands = append(s.operands, i)
	}
}

// one reads an option's word, and returns how many further words belong to it.
func (g grammar) one(p *Part, s *scanned, at int) int {
	text := p.Words[at].Text
	name, value, attached := strings.Cut(text, "=")
	if strings.HasPrefix(text, "--") || g.long || g.whole {
		r, ok := g.roles[name]
		if !ok && g.ofFamily(p.Words[at]) {
			return 0
		}
		if !ok {
			p.doubt(at, "the option "+name+" is not known to be harmless")
			s.strange = append(s.strange, text)
			return 0
		}
		return g.value(p, s, option{name: name, role: r, at: at}, value, attached)
	}
	if g.number && strings.Trim(text[1:], "0123456789") == "" {
		return 0
	}
	for i := 1; i < len(text); i++ {
		o := option{name: "-" + text[i:i+1], at: at}
		r, ok := g.roles[o.name]
		if !ok {
			p.doubt(at, "the option "+o.name+" is not known to be harmless")
			s.strange = append(s.strange, text)
			return 0
		}
		if o.role = r; r == plain {
			s.found = append(s.found, o)
			continue
		}
		value := text[i+1:]
		if value != "" && g.apart || strings.HasPrefix(value, "=") && r != takes && r != may {
			p.doubt(at, "programs differ about the value of the option "+o.name)
		}
		return g.value(p, s, o, value, value != "")
	}
	return 0
}

// ofFamily reports whether a word is an option of a family. A comma hands what is behind it to another program.
func (g grammar) ofFamily(w Word) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-=./:\""
	return w.Form == Literal && strings.Trim(w.Text, letters) == "" &&
		slices.ContainsFunc(g.families, func(f string) bool {
			return strings.HasPrefix(w.Text, f)
		})
}

// value reads the value of an option, which is attached or the next word.
func (g grammar) value(p *Part, s *scanned, o option, value string, attached bool) int {
	used := 0
	o.from = o.at
	switch {
	case o.role == runsWordsOf:
		o.from++
		used = o.command(p)
	case o.role == plain && attached:
		p.doubt(o.at, "the option "+o.name+" has a value")
	case o.role == plain, o.role == may && !attached:
	case attached && p.Words[o.at].Form == Literal:
		o.value.Text = value
	case attached || o.at+1 >= len(p.Words) || p.Words[o.at+1].Form != Literal:
		p.doubt(o.at, "the value of the option "+o.name+" is not literal")
		if !attached {
			used = 1
			if at := o.at + 1; o.role == takes && at < len(p.Words) && p.Words[at].Single {
				p.Values = append(p.Values, at)
			}
		}
		o.role = plain
	default:
		o.from++
		o.value, used = p.Words[o.from], 1
		if o.role == takes {
			p.Values = append(p.Values, o.from)
		}
		if t := o.value.Text; len(t) > 1 && t[0] == '-' && (t[1] < '0' || t[1] > '9') {
			p.doubt(o.from, "the value of the option "+o.name+" looks like an option")
		}
	}
	if g.values != nil && g.values(o.name, o.value.Text) {
		p.Values = nil
		p.doubt(o.from, "the value of the option "+o.name+" starts a program")
	}
	s.found = append(s.found, o)
	return used
}

// command reads the command of an option up to its end, and returns how many words it takes.
func (o *option) command(p *Part) int {
	for i := o.at + 1; i < len(p.Words); i++ {
		w := p.Words[i]
		// For -ok a "+" is a further argument.
		if w.Is(";") || w.Is("+") && p.Words[i-1].Is("{}") && strings.HasPrefix(o.name, "-exec") {
			return i - o.at
		}
		o.words = append(o.words, w)
	}
	p.doubt(o.at, "the command of "+o.name+" has no end")
	return len(p.Words)
}

// judgeOperands adds the doubts about operands that a table names.
func (s *scanned) judgeOperands(p *Part, e *entry) {
	edits := e.of(s) && e.to == ""
	for _, i := range s.operands {
		w := p.Words[i]
		// A pattern may become any name of a file, several of them, or a name with a scheme.
		open := w.Form != Literal && (edits || e.output || e.target || e.last > 0 || w.Wide ||
			!strings.Contains(w.Text, "/"))
		open = open && !e.clears(w)
		if e.spelled && number(w) && p.Words[i-1].Is("-j") {
			continue
		}
		if e.checksOperands() && open || e.spelled || e.operands != nil && e.operands(w.Text) {
			p.doubt(i, e.why)
		}
	}
	if e.script != nil && len(s.operands) > 0 {
		at := s.operands[0]
		if w := p.Words[at]; w.Form != Literal || !e.script(at, w.Text) {
			p.doubt(at, e.why)
		}
	}
	if e.spelled && len(s.operands) == 0 && !s.harmless {
		p.doubt(1, e.why)
	}
	if e.alone != "" && len(s.operands) == 0 && !s.harmless {
		p.doubt(Always, e.alone)
	}
	if e.needs != "" && !s.harmless && !slices.ContainsFunc(strings.Fields(e.needs),
		func(o string) bool { return s.option(o) >= 0 }) {
		p.doubt(Always, "it writes a file that its operand names")
	}
	if e.last > 0 && len(s.operands) > e.last {
		p.doubt(s.operands[e.last], e.why)
	}
}
