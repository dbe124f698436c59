package compiler

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir"
)

// checkPlaceholders warns where an argument of a call begins a word of its own, which the
// program takes for an option if the value begins with a dash.
func (c finisher) checkPlaceholders(t *ir.Tool) {
	cmd := t.Command
	if cmd == nil || cmd.Shell {
		return
	}
	for i, word := range cmd.Args {
		expr, ok := strings.CutPrefix(word, "{{")
		expr = strings.TrimSpace(expr)
		if !ok || !strings.HasPrefix(expr, "tool.arguments.") && !strings.HasPrefix(expr, "tool.answers.") ||
			slices.Contains(cmd.Args[:i], "--") || i > 0 && takesValue(cmd.Args[i-1]) {
			continue
		}
		d := diag.New(diag.OptionLike, cmd.Origin.Pos, 1)
		d.Path, d.Label = cmd.Origin.Path, cmd.Program+" takes "+word+" for an option where its value begins with -"
		d.Hint = "write -- before it, or give it to an option, as in --name=" + word
		c.findings.Add(d)
		return
	}
}

// takesValue reports whether a word may be an option whose value is the next word: -e or
// --regexp, but not several letters in one, such as -rn.
func takesValue(word string) bool {
	return strings.HasPrefix(word, "--") && !strings.Contains(word, "=") || len(word) == 2 && word[0] == '-'
}
