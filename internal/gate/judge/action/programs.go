package action

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ruleset/shell"
)

// programs judges a command by the policy's table of programs, the zero verdict without one. A line that a shell does
// more with than take it apart into words is permitted only together with a ruleset, which judges the rest of it.
func (j *Judge) programs(c Command, tree *shell.Part) Verdict {
	if j.Files.View.Tool.Commands == nil {
		return Verdict{}
	}
	out := Permitted()
	tree.Each(func(p *shell.Part) { out = out.And(j.part(p)) })
	if c.Words == nil && PlainWords(c.Line) == nil && j.Rules == nil {
		out = out.And(Left("the command is more than words"))
	}
	return out
}

// part judges a part of a command by the table.
func (j *Judge) part(p *shell.Part) Verdict {
	switch {
	case p.Kind == shell.Opaque:
		return Left(visible.Text(p.Why))
	case p.Kind != shell.Program:
		return Permitted()
	}
	var words []string
	for _, w := range p.Words {
		if w.Form != shell.Literal {
			return Left("the shell expands words of the command")
		}
		words = append(words, w.Text)
	}
	if slices.ContainsFunc(p.Doubts, func(d shell.Doubt) bool { return d.Word == shell.Always }) {
		return Left(visible.Text(p.Doubts[0].Why))
	}
	if slices.Contains(shells, path.Base(filepath.ToSlash(words[0]))) && len(words) > 1 {
		if p.Through && j.Rules != nil {
			return Permitted() // its text is a part of its own
		}
		return Left("the command is text for a shell")
	}
	if len(p.Dirs) != 1 {
		return Left("the working directory is not known")
	}
	return j.run(words, p.Dirs[0])
}

// shells run text, of which the table of programs says nothing.
var shells = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "pwsh", "powershell", "powershell.exe", "cmd", "cmd.exe"}

// run asks for a program with arguments.
func (j *Judge) run(words []string, dir string) Verdict {
	program := words[0]
	if strings.Contains(filepath.ToSlash(program), "/") && !filepath.IsAbs(program) {
		program = path.Join(dir, filepath.ToSlash(program))
	}
	asker := j.Asker
	asker.Resolver = &resolve.Resolver{Disk: resolve.Through(hostview.Now), Root: j.Files.Roots.Workspace}
	op, err := asker.Operation(resolve.Question{Verb: "run", Operands: []string{program}, Args: words[1:]})
	if err != nil {
		return Refused(visible.Text(err.Error()), program)
	}
	v := j.Files.View.Decide(op)
	if v.Allowed() {
		return Permitted()
	}
	d := denial.Denial{By: denial.ByPolicy, Operation: op, Verdict: v, View: j.Files.View, Roots: j.Files.Roots}
	return Refused(d.Text(), strings.Join(words, " "))
}

// PlainWords are the words of a line in which no character means anything to a shell; nil for any
// other line.
func PlainWords(line string) []string {
	letters := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(" _./:,@%+-", r)
	}
	if strings.TrimFunc(line, letters) != "" {
		return nil
	}
	return strings.Fields(line)
}
