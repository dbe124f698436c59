package shell

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/process/once"
)

// language is a program that runs code which its arguments name.
type language struct {
	// harmless are the arguments that only ask for words about the program.
	harmless []string
	// script is true where a first argument that is no option is a script, to which all further arguments belong.
	script bool
	// modules is true where -m names a module, whose table counts.
	modules bool
	// modes are the tables for the words behind a certain first argument.
	modes map[string]*entry
}

// speech is a language as it is written in the tables. The operands of a mode are files or names of the project.
type speech struct {
	names, harmless string
	script, modules bool
	modes           map[string]string
}

// speeches are the languages.
func speeches() []speech {
	return []speech{
		{names: "sh bash dash rbash zsh ksh mksh ash fish csh tcsh pwsh powershell nu xonsh elvish osh rc es"},
		{names: "python python2 python3 pypy pypy3", harmless: "--version -V", script: true, modules: true},
		{names: "perl", harmless: "--version -v", script: true},
		{names: "ruby", harmless: "--version -v", script: true, modes: map[string]string{"-c": ""}},
		{names: "node nodejs", harmless: "--version -v", script: true, modes: map[string]string{
			"--check": "", "-c": "",
			"--test": "--test-name-pattern= --test-only --test-concurrency= --test-timeout= --test-skip-pattern= " +
				"--test-force-exit",
		}},
		{names: "deno", harmless: "--version -V", modes: map[string]string{
			"fmt": "--check -q --quiet", "lint": "-q --quiet --json", "check": "-q --quiet",
			"test": "--filter= --fail-fast --parallel -q --quiet --doc --no-check",
		}},
		{names: "bun", harmless: "--version -v", modes: map[string]string{
			"test": "-t= --test-name-pattern= --bail? --timeout= --rerun-each= --only --todo --coverage",
		}},
		{names: "php", harmless: "--version -v", script: true, modes: map[string]string{"-l": ""}},
		{names: "lua luajit", harmless: "-v", script: true},
		{names: "expect", harmless: "-v", script: true},
		{names: "tclsh wish guile julia racket runghc ocaml elixir Rscript groovy", harmless: "--version -v -version",
			script: true},
		{names: "java", harmless: "-version --version", script: true},
		{names: "scala iex swipl octave jshell ghci R erl ts-node tsx irb pry", harmless: "--version -version -v"},
		{names: "gdb lldb vim vi nvim view ex rvim rview gvim gview vimdiff gvimdiff vimx evim ed emacs emacsclient " +
			"xemacs nano pico rnano jed mg kak hx micro joe", harmless: "--version -v"},
		{names: "m4 dc bc gnuplot latex pdflatex xelatex lualatex tex ghostscript gs", harmless: "--version"},
		{names: "sqlite3 sqlite duckdb psql mysql mariadb mongo mongosh redis-cli usql pgcli mycli litecli sqlplus " +
			"sqlcmd isql cqlsh clickhouse-client influx", harmless: "--version -version -V -v"},
		{names: "osascript cmd wscript cscript mshta rundll32"},
	}
}

// interpreters are the languages by the names of their programs.
func interpreters() map[string]*language {
	return interpretersOnce.Get(func() map[string]*language {
		out := map[string]*language{}
		for _, s := range speeches() {
			l := &language{
				harmless: strings.Fields(s.harmless), script: s.script, modules: s.modules, modes: map[string]*entry{},
			}
			for word, options := range s.modes {
				r := row{why: "an argument names code that the interpreter runs", options: options}
				r.entry.operands = local
				if word == "fmt" {
					r.entry.inPlace = inPlace{access: Replace, without: "--check"}
				}
				l.modes[word] = r.compile()
			}
			for name := range strings.FieldsSeq(s.names) {
				out[name] = l
			}
		}
		return out
	})
}

var interpretersOnce once.Value[map[string]*language]

// modules are programs that python runs behind -m, with a table of their own. Others are starters.
func modules() map[string]*entry {
	return modulesOnce.Get(func() map[string]*entry {
		out := map[string]*entry{}
		for _, r := range []row{
			{names: "json.tool", why: "its second operand is an output file",
				options: "--sort-keys --no-ensure-ascii --json-lines --indent= --tab --no-indent --compact",
				entry:   entry{last: 1}},
			{names: "unittest", why: "runs the code that its arguments name",
				options: "-v --verbose -q --quiet -f --failfast -b --buffer -c --catch -k= -s/ -t/ -p= --locals",
				entry:   entry{operands: given}},
			{
				names: "venv", why: "writes its operands",
				options: "--clear --upgrade-deps --without-pip --system-site-packages --prompt=",
				entry:   entry{inPlace: inPlace{access: Replace}},
			},
			{names: "compileall py_compile", why: "reads the files that its arguments name", options: "-q -f",
				entry: entry{operands: given}},
		} {
			e := r.compile()
			for name := range strings.FieldsSeq(r.names) {
				out[name] = e
			}
		}
		for name := range strings.FieldsSeq("pytest mypy black isort ruff pip flake8 pylint") {
			out[name] = program(name)
		}
		return out
	})
}

var modulesOnce once.Value[map[string]*entry]

// interpreter takes the start of an interpreter apart: whatever it runs is not seen through. Each word is a doubt, but
// for those that a script gets and those that a table knows.
func (a *analysis) interpreter(p *Part, l *language) {
	const why = "an interpreter runs what its arguments name"
	at := 1
	for at < len(p.Words) && p.Words[at].Form == Literal && slices.Contains(l.harmless, p.Words[at].Text) {
		at++
	}
	if at == len(p.Words) {
		if at == 1 {
			p.CodeOnInput = true
			p.doubt(Always, "the interpreter runs what it reads")
		}
		return // the likes of --version
	}
	w := p.Words[at]
	p.CodeOnInput = isInput(w, p.Dirs)
	p.doubt(at, why)
	switch mode := l.modes[w.Text]; {
	case w.Form == Literal && mode != nil:
		a.arguments(p, mode, at+1)
	case w.Is("-m") && at+1 < len(p.Words) && l.modules:
		a.module(p, at+1)
	case w.Is("-jar") && at+1 < len(p.Words) && base(p.Words[0].Text) == "java":
		p.doubt(at+1, why)
	case l.script && w.Form == Literal && w.Text != "" && w.Text[0] != '-' && w.Text[0] != '@':
	default:
		p.CodeInWords = !edits(base(p.Words[0].Text), p.Words)
		for i := at + 1; i < len(p.Words); i++ {
			p.doubt(i, why)
		}
	}
}

// consoles are modules of python that run their input.
var consoles = []string{
	"code", "pdb", "asyncio", "IPython", "idlelib", "ptpython", "bpython",
}

// module takes the words apart behind -m: the name of a module, and its arguments.
func (a *analysis) module(p *Part, at int) {
	p.doubt(at, "an interpreter runs what its arguments name")
	if e := modules()[p.Words[at].Text]; e != nil && p.Words[at].Form == Literal {
		a.arguments(p, e, at+1)
		return
	}
	a.starter(p, "is a module that no list knows", at+1, false)
	p.CodeOnInput = slices.Contains(consoles, p.Words[at].Text)
	p.CodeInWords = slices.ContainsFunc(p.Words[at+1:], func(w Word) bool {
		return strings.ContainsAny(w.Text, notPlain)
	})
}
