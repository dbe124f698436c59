package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// closed are programs with a table that run no command by any argument: an unknown word of such a program hides none.
var closed = []string{
	"mkdir", "touch", "tee", "truncate", "mkfifo", "mktemp", "uniq", "date", "xxd", "shuf", "dd", "gzip",
	"gunzip", "bzip2", "bunzip2", "xz", "unxz", "base64", "iconv", "tree", "gofmt", "rustfmt",
}

// recorded are the subcommands of git that run what git's configuration names, and nothing that an argument names.
var recorded = []string{
	"show", "log", "diff", "status", "add", "blame", "rev-parse", "rev-list", "ls-files", "ls-tree", "describe",
	"shortlog", "show-ref", "merge-base", "branch", "tag", "checkout", "switch", "restore", "reset", "rm", "mv",
}

// editors are interpreters whose operands are files.
var editors = []string{
	"vim", "vi", "nvim", "view", "rvim", "rview", "gvim", "gview", "vimdiff", "emacs", "xemacs", "nano", "pico",
	"rnano", "jed", "mg", "kak", "hx", "micro", "joe",
}

// plainFile is a name of a file that no editor takes for anything else.
var plainFile = expression.Once{Text: `^[A-Za-z0-9_./][A-Za-z0-9_./-]*$`}

// edits reports whether a program is an editor with nothing but files to edit.
func edits(name string, words []Word) bool {
	return slices.Contains(editors, name) && len(words) > 1 && !slices.ContainsFunc(words[1:], func(w Word) bool {
		return w.Form != Literal || !plainFile.Get().MatchString(w.Text)
	})
}

// hides reports whether a word from an index on may be a command where it is not known.
func (p *Part) hides(name string, i int) bool {
	switch {
	case slices.Contains(closed, name), name == "cd", name == "pushd":
		return false
	case name == "git":
		sub := p.Words[min(p.First, i)]
		return !p.Known || p.First >= i || sub.Form != Literal || !slices.Contains(recorded, sub.Text)
	case name == "printf" && i > 1 && p.Words[1].Form == Literal:
		f := p.Words[1].Text
		return !textFormat(f) || strings.HasPrefix(f, "-")
	}
	return true
}

// renames reports whether a program gives a name another meaning, so that a command hides behind it: an alias, the file
// of a command, a copy of a program, a configuration of git.
func (p *Part) renames(name string) bool {
	if slices.ContainsFunc(p.Names, configures) {
		return true
	}
	words := p.Words[1:]
	some := func(f func(string) bool) bool {
		return slices.ContainsFunc(words, func(w Word) bool { return w.Form != Literal || f(w.Text) })
	}
	named := func(s string) bool { return strings.Contains(s, "BASH_ALIASES") || strings.Contains(s, "BASH_CMDS") }
	if slices.ContainsFunc(words, func(w Word) bool { return named(w.Text) || configures(w.Text) }) {
		return true
	}
	switch name {
	case "alias":
		return some(func(s string) bool { return strings.Contains(s, "=") })
	case "hash":
		return some(func(s string) bool { return strings.HasPrefix(s, "-") && strings.Contains(s, "p") })
	case "ln", "cp", "mv", "install", "link":
		return slices.ContainsFunc(words, func(w Word) bool {
			return slices.ContainsFunc(system, func(dir string) bool { return strings.HasPrefix(w.Text, dir+"/") })
		})
	case "gh", "glab":
		return len(words) > 0 && words[0].Is("alias")
	case "git", "cargo", "hg", "jj":
		return p.configured()
	}
	return false
}

// disguises reports whether a program may get a command in a form of its own: in an address, in parts, in a setting.
func (p *Part) disguises(name string) bool {
	return name == "parallel" || slices.Contains(p.Names, "GIT_ALLOW_PROTOCOL") ||
		slices.ContainsFunc(slices.Concat(p.Words[1:], p.Assigned), func(w Word) bool {
			has := func(parts ...string) bool {
				return slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(w.Text, s) })
			}
			switch {
			case has("ext::", "data:"):
				return true
			case name == "cargo":
				return has("runner", "wrapper", "linker")
			case name == "rg":
				return w.Is("--pre") || has("--pre=")
			}
			return name == "cmake" && has("LAUNCHER")
		})
}

// configures reports whether a name of a variable, or a setting of a variable, is part of a configuration which gives
// names to subcommands.
func configures(s string) bool {
	return strings.HasPrefix(s, "GIT_CONFIG") || strings.HasPrefix(s, "CARGO_ALIAS")
}

// configured reports whether a configuration in the words of git and its like may make a subcommand of any other.
func (p *Part) configured() bool {
	e := program(base(p.Words[0].Text))
	unknown, settings := e == nil || e.sub == nil, false
	for i, w := range p.Words[1:] {
		t := w.Text
		if strings.HasPrefix(t, "-c") || strings.HasPrefix(t, "--config") {
			settings = true
			continue
		}
		before := p.Words[i].Text
		value := i > 0 && slices.Contains([]string{"-c", "-C", "--config", "--config-env"}, before)
		if t == "" || t[0] == '-' || value {
			continue
		}
		unknown = unknown || e.sub[t] == nil
		if t == "config" && slices.ContainsFunc(p.Words[i+2:], func(w Word) bool {
			section, _, _ := strings.Cut(strings.ToLower(w.Text), ".")
			return w.Form != Literal || slices.Contains([]string{"alias", "help", "include", "includeif"}, section)
		}) {
			return true
		}
		break
	}
	return settings && unknown
}

// assignments is an opaque part that sets variables: if nothing else happens, it is seen through.
func (a *analysis) assignments(p *Part, all []*syntax.Assign) *Part {
	p.Assigned, p.Names, p.Seen = values(all), names(all), true
	for _, s := range all {
		option := s.Naked && s.Name == nil
		w := Word{}
		if s.Value != nil {
			w, _ = readWord(s.Value)
		}
		p.Seen = p.Seen && s.Index == nil && s.Array == nil && !s.Append && w.Form == Literal &&
			(!option || strings.Trim(w.Text, "-AagrpxtF") == "")
	}
	return p
}

// names are the names of variables that are set.
func names(all []*syntax.Assign) []string {
	var out []string
	for _, s := range all {
		if s.Name != nil {
			out = append(out, s.Name.Value)
		}
	}
	return out
}

// flow takes control flow and functions apart, whose statements are parts: where nothing else runs, it is seen through.
func (a *analysis) flow(c syntax.Command) *Part {
	p := a.opaque(c, construct(c))
	//exhaustive:ignore
	switch c := c.(type) {
	case *syntax.DeclClause:
		return a.assignments(p, c.Args)
	case *syntax.FuncDecl:
		p.Seen = true
		p.feeds() // by whoever calls it
	case *syntax.IfClause, *syntax.WhileClause:
		p.Seen = true
	case *syntax.ForClause:
		w, ok := c.Loop.(*syntax.WordIter)
		p.Seen = ok && !c.Select
		if ok {
			p.Names = []string{w.Name.Value}
			for _, item := range w.Items {
				word, _ := readWord(item)
				p.Assigned = append(p.Assigned, word)
			}
		}
	case *syntax.CaseClause:
		p.Seen = true
		syntax.Walk(c, func(n syntax.Node) bool {
			if w, ok := n.(*syntax.Word); ok {
				_, why := readWord(w)
				p.Seen = p.Seen && why == ""
			}
			_, ok := n.(*syntax.Stmt)
			return !ok
		})
	}
	return p
}
