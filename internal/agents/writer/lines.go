package writer

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Line is a command line that a rule permits.
type Line struct {
	Words string // with a blank in between
	More  bool   // any further words may follow
}

// Lines are the command lines of a rule: those whose words stand for themselves, in a shell and in settings.
func Lines(r *ir.CommandRule) []Line {
	if !plain(r.Program) || strings.Contains(r.Program, "=") {
		return nil // a shell would take the word for a variable
	}
	if r.AnyArgs {
		return []Line{{r.Program, true}}
	}
	var out []Line
	for _, a := range r.Args {
		if !slices.ContainsFunc(a.Words, func(w string) bool { return !plain(w) }) {
			out = append(out, Line{strings.Join(append([]string{r.Program}, a.Words...), " "), a.Rest})
		}
	}
	return out
}

// plain reports whether a word is one of a command line as it stands, and of a rule.
func plain(word string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return word != "" && strings.Trim(word, letters+"_-./=+,@%") == "" && !strings.HasPrefix(word, "=")
}
