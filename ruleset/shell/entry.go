package shell

import (
	"maps"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/once"
)

// entry describes the arguments of a program that can start others, or write files, by them.
type entry struct {
	grammar
	// why is the reason for which the program is in the table.
	why string
	// wraps is true for a program that runs the command in its operands, through for one that
	// changes nothing of importance about it.
	wraps, through bool
	// skip is the number of operands in front of the command, assigns whether variables may stand
	// there.
	skip    int
	assigns bool
	// appends is true where the command gets further arguments, joins where a shell runs it.
	appends, joins bool
	// alone is the reason why the program is doubtful without operands, empty if it is not.
	alone string
	// obeys is that of Part.
	obeys bool
	// sub are the subcommands that are known.
	sub map[string]*entry
	// operands reports whether an operand is doubtful; nil doubts none.
	operands func(string) bool
	// script reports whether the first operand, of this index, is a script that only reads its
	// input and prints; nil where it is none.
	script func(at int, text string) bool
	// asks are the options with which a wrapper runs nothing, removes those that remove variables.
	asks, removes string
	// needs are options without one of which the program writes a file that no option names.
	needs string
	// output is true where all operands are files that are written, target where the last one is.
	output, target bool
	// last is the number of operands behind which another one is an output file, 0 for none.
	last int
}

// checksOperands reports whether operands matter for the decision.
func (e *entry) checksOperands() bool { return e.operands != nil || e.output || e.target || e.last > 0 }

// row is an entry as it is written in the tables.
type row struct {
	names, why string
	options    string
	entry      entry
	// sub are the options of subcommands, checks the entries for the operands of some.
	sub    map[string]string
	checks map[string]entry
	// long and passes are those of grammar.
	long, passes bool
}

// programs returns the tables by name of the program.
func programs() map[string]*entry {
	return programsOnce.Get(func() map[string]*entry {
		out := map[string]*entry{}
		for _, table := range [][]row{wrappers(), writers(), builders(), {git()}} {
			for _, r := range table {
				e := r.compile()
				for _, n := range strings.Fields(r.names) {
					out[n] = e
				}
			}
		}
		return out
	})
}

var programsOnce once.Value[map[string]*entry]

// compile reads the table of a row.
func (r row) compile() *entry {
	e := r.entry
	e.grammar, e.why = newGrammar(r.options+" --help --version"), r.why
	e.long = r.long
	e.early = e.wraps || r.sub != nil
	for names, options := range r.sub {
		for _, name := range strings.Fields(names) {
			sub := &entry{grammar: newGrammar(options), why: r.why, operands: e.operands}
			if c, ok := r.checks[name]; ok {
				sub.operands, sub.script = c.operands, c.script
			}
			sub.long, sub.passes = r.long, r.passes
			if e.sub == nil {
				e.sub = map[string]*entry{}
			}
			e.sub[name] = sub
		}
	}
	return &e
}

// listed reports whether some table has a program.
func listed(name string) bool {
	return shells()[name] || interprets(name) || starters()[name] != "" || programs()[name] != nil
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
	if e := programs()[name]; e != nil && e.wraps {
		return "runs the command in its arguments"
	}
	return ""
}

// Harmless lists words of which each may be the first argument of a program without a doubt. There
// are more: it is for examples.
func Harmless(name string) []string {
	name = base(name)
	if harmless, ok := interpreters()[name]; ok {
		return strings.Fields(harmless)
	}
	e := programs()[name]
	if e == nil {
		return nil
	}
	return append(slices.Sorted(maps.Keys(e.sub)), "--version")
}

// interprets reports whether a program is an interpreter.
func interprets(name string) bool {
	_, ok := interpreters()[name]
	return ok
}
