package action

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/judge"
	"github.com/accessc/accessc/internal/supervisor/denial"
	"github.com/accessc/accessc/ir"
)

// Listed judges commands by the policy's table of programs. Without a table, and about text that
// a shell would do more with than take it apart into words, it knows nothing.
type Listed struct {
	Files *judge.Judge
	// Asker finds the files of programs.
	Asker resolve.Asker
}

// Judge judges a command.
func (l Listed) Judge(c Command) Verdict {
	words := c.Words
	if words == nil {
		words = PlainWords(c.Line)
	}
	switch {
	case own(c):
		return Refused("the command starts accessc with a configuration or gaps of its own", strings.Join(append(c.Words, c.Line), " "))
	case l.Files.View.Tool.Commands == nil:
		return Left("the policy lists no programs")
	case len(words) == 0:
		return Left("the command is more than words")
	case slices.Contains(shells, path.Base(filepath.ToSlash(words[0]))) && len(words) > 1:
		return Left("the command is text for a shell")
	}
	out := l.run(words, c.Dir)
	for _, name := range c.Env {
		if ir.LoaderVariable(name) && !l.Files.View.Decide(ir.Forward{Name: name}).Allowed() {
			out = out.And(Refused("the variable "+name+" changes the code that programs load", name))
		}
	}
	return out
}

// shells run text, of which the table of programs says nothing.
var shells = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "pwsh", "powershell", "powershell.exe", "cmd", "cmd.exe"}

// run asks for a program with arguments.
func (l Listed) run(words []string, dir string) Verdict {
	program := words[0]
	if strings.Contains(filepath.ToSlash(program), "/") && !filepath.IsAbs(program) {
		if dir == "" {
			dir = l.Files.Dir
		}
		program = path.Join(dir, filepath.ToSlash(program))
	}
	asker := l.Asker
	asker.Resolver = &resolve.Resolver{Disk: resolve.NewDisk(), Root: l.Files.Roots.Workspace}
	op, err := asker.Operation(resolve.Question{Verb: "run", Operands: []string{program}, Args: words[1:]})
	if err != nil {
		return Refused(err.Error(), program)
	}
	v := l.Files.View.Decide(op)
	if v.Allowed() {
		return Permitted()
	}
	d := denial.Denial{By: denial.ByPolicy, Operation: op, Verdict: v, View: l.Files.View, Roots: l.Files.Roots}
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

// foreign are the flags by which accessc gets another policy, or less of one.
var foreign = []string{"--config", "--set", "--accept", "--artifact", "--untrusted", "--command", "-C", "--dir", "--shared"}

// own reports whether a command starts accessc otherwise than the policy has it.
func own(c Command) bool {
	words := slices.Concat(c.Words, []string{c.Line})
	fields := strings.FieldsFunc(strings.Join(words, " "), func(r rune) bool {
		return strings.ContainsRune(" \t\n'\"\\;&|()`$<>{}", r)
	})
	starts := slices.ContainsFunc(fields, func(w string) bool {
		return strings.TrimSuffix(path.Base(filepath.ToSlash(w)), ".exe") == "accessc"
	})
	return starts && slices.ContainsFunc(fields, func(w string) bool {
		flag, _, _ := strings.Cut(w, "=")
		return slices.Contains(foreign, flag) || strings.HasPrefix(w, "-C")
	})
}
