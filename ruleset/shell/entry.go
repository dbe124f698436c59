package shell

import (
	"maps"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/process/once"
)

// entry describes the arguments of a program that can start others, or write files, by them.
type entry struct {
	grammar
	// why is the reason for which the program is in the table.
	why string
	// wraps is true for a program that runs the command in its operands, through for a program that changes nothing of
	// importance about it.
	wraps, through bool
	// skip is the number of operands in front of the command, assigns whether variables may stand
	// there.
	skip    int
	assigns bool
	// appends is true where the command gets further arguments, joins where a shell runs it.
	appends, joins bool
	// alone is the reason why the program is doubtful without operands, empty if it is not.
	alone string
	// obeys is as in Part.
	obeys bool
	// sub are the subcommands that are known.
	sub map[string]*entry
	// operands reports whether an operand is doubtful; nil doubts none.
	operands func(string) bool
	// spelled is true where a rule must spell out the operands, named where it must spell out this subcommand.
	spelled, named bool
	// script reports whether the first operand, of this index, is a script that only reads its
	// input and prints; nil where it is none.
	script func(at int, text string) bool
	// asks are the options with which a wrapper runs nothing, removes those that remove variables.
	asks, removes string
	// needs are options without one of which the program writes a file that no option names.
	needs string
	// output is true where all operands are files that are written, target where the last operand is. Of a program that
	// packs files, packs is the end of the name that it adds.
	output, target bool
	packs          string
	// last is the number of operands behind which another operand is an output file, 0 for none.
	last int
	inPlace
}

// checksOperands reports whether operands matter for the decision.
func (e *entry) checksOperands() bool {
	return e.operands != nil || e.spelled || e.output || e.target || e.last > 0 || e.access != Read
}

// row is an entry as it is written in the tables.
type row struct {
	names, why string
	options    string
	entry      entry
	// sub are the options of subcommands, checks the entries for the operands of some. A "!" before a name stands for
	// named, and a "/" parts the words of a name.
	sub    map[string]string
	checks map[string]entry
	// long, whole, apart, passes and values are as in grammar.
	long, whole, apart, passes bool
	values                     func(option, value string) bool
}

// tabled is a row that is read when its program is first asked for: a command line is about few of all programs.
type tabled struct {
	row
	// exact is true where a version behind the name, or a file of the name outside of the system's directories, is
	// another program.
	exact bool
	once  once.Value[*entry]
}

// tables returns the rows by name of the program.
func tables() map[string]*tabled {
	return tablesOnce.Get(func() map[string]*tabled {
		out := map[string]*tabled{}
		all := [][]row{writers(), {git()}, wrappers(), builders(), checkers(), compilers(), operators()}
		for i, table := range all {
			for _, r := range table {
				t := &tabled{row: r, exact: i < 2}
				for n := range strings.FieldsSeq(r.names) {
					out[n] = t
				}
			}
		}
		return out
	})
}

var tablesOnce once.Value[map[string]*tabled]

// program returns the table of a program, nil if it has none.
func program(name string) *entry {
	t := tables()[name]
	if t == nil {
		return nil
	}
	return t.once.Get(t.compile)
}

// compile reads the table of a row.
func (r row) compile() *entry {
	e := r.entry
	e.grammar, e.why = newGrammar(r.options+" --help --version"), r.why
	e.long, e.whole, e.apart, e.values = r.long, r.whole, r.apart, r.values
	e.early = e.early || e.wraps || r.sub != nil
	for names, options := range r.sub {
		for name := range strings.FieldsSeq(names) {
			name, named := strings.CutPrefix(name, "!")
			sub := &entry{grammar: newGrammar(options), why: r.why, operands: e.operands}
			if c, ok := r.checks[name]; ok {
				g := sub.grammar
				*sub = c
				sub.grammar, sub.why = g, r.why
				sub.early = c.early
			}
			sub.named, sub.passes, sub.values = named, r.passes, r.values
			sub.long, sub.whole, sub.apart = r.long, r.whole, r.apart
			e.put(strings.Split(name, "/"), sub)
		}
	}
	return &e
}

// put adds the table of a subcommand, which may consist of several words.
func (e *entry) put(words []string, sub *entry) {
	if e.sub == nil {
		e.sub = map[string]*entry{}
	}
	if len(words) == 1 {
		e.sub[words[0]] = sub
		return
	}
	outer := e.sub[words[0]]
	if outer == nil {
		outer = &entry{grammar: newGrammar(""), why: e.why}
		outer.early = true
		e.sub[words[0]] = outer
	}
	outer.put(words[1:], sub)
}

// listed reports whether some table has a program.
func listed(name string) bool {
	return shells()[name] || interprets(name) || starters()[name] != "" || tables()[name] != nil || acting()[name]
}

// shellOptions are the options of shells that change nothing about the text of -c.
func shellOptions() grammar {
	return shellOptionsOnce.Get(func() grammar {
		g := newGrammar("-c -e -u -x -f -v -n -s -l -o= --login --norc --noprofile --version --help")
		g.early = true
		return g
	})
}

var shellOptionsOnce once.Value[grammar]

// Starts returns the reason why a rule for a program should list the programs that it may run; empty
// for programs that only act themselves.
func Starts(name string) string {
	switch name = base(name); {
	case shells()[name] || name == "eval":
		return "runs any command"
	case interprets(name):
		return "is an interpreter"
	case starters()[name] != "":
		return starters()[name]
	case state()[name] != "":
		return state()[name]
	}
	switch e := program(name); {
	case e != nil && e.wraps:
		return "runs the command in its arguments"
	case e != nil && e.spelled:
		return e.why
	}
	if !listed(name) {
		return unlisted
	}
	return ""
}

// Harmless lists words of which each may be the first argument of a program without a doubt. There
// are more: it is for examples.
func Harmless(name string) []string {
	name = base(name)
	if l := interpreters()[name]; l != nil {
		return l.harmless
	}
	e := program(name)
	if e == nil {
		return nil
	}
	return append(slices.Sorted(maps.Keys(e.sub)), "--version")
}

// interprets reports whether a program is an interpreter.
func interprets(name string) bool { return interpreters()[name] != nil }
