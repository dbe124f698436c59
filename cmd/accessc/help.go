package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// helpCmd is "accessc help".
type helpCmd struct {
	Command []string `arg:"" optional:"" name:"command" help:"The command; all of them without."`
}

// Run implements the command.
func (c *helpCmd) Run(g *globals) error {
	var other cli
	shown := false
	args := append(c.Command, "--help")
	parser, err := newParser(&other, args[0], g.stdout, g.stderr, func(int) { shown = true })
	if err != nil {
		return err
	}
	if _, err = parser.Parse(args); shown {
		return nil
	}
	return callError{err}
}

// callError is a command line that does not parse.
type callError struct{ err error }

// Error implements error. Suggestions of this program's flags are of no use to whoever meant another's.
func (e callError) Error() string {
	if flag, line := e.another(); line != "" {
		return "unknown flag " + flag + "; the command stands behind --: " + line
	}
	return e.err.Error()
}

// another is a flag behind the tool of learn, and the line with "--" in front of the words of the command; empty where
// the flag may be meant as this program's.
func (e callError) another() (flag, line string) {
	rest, unknown := strings.CutPrefix(e.err.Error(), "unknown flag ")
	var parse *kong.ParseError
	if !unknown || e.command() != "learn" || !errors.As(e.err, &parse) {
		return "", ""
	}
	flag, _, _ = strings.Cut(rest, ",")
	t := typed{node: parse.Context.Model.Node, flags: map[string][]string{}}
	at := -1
	for i, word := range parse.Context.Args {
		if !t.behind && t.flag == nil && strings.HasPrefix(word, flag) {
			break
		}
		t.read(word)
		if len(t.args) == 1 && at < 0 {
			at = i + 1
		}
	}
	if at < 0 {
		return "", ""
	}
	return flag, lineOf(slices.Insert(slices.Clone(parse.Context.Args), at, "--"))
}

// Unwrap has it be a mistake of the call.
func (e callError) Unwrap() error { return usageError{Err: e.err} }

// hint says where to read on, and names the usual mistakes.
func (e callError) hint() string {
	name := e.command()
	out := strings.Replace("accessc "+name+" --help says more", "  ", " ", 1)
	if name == "exec" && strings.HasPrefix(e.Error(), "unknown flag") {
		out = "options of the tool stand behind its name, as in: accessc exec TOOL -x\n" + out
	}
	return out
}

// command is the one that was called, as far as that is known.
func (e callError) command() string {
	var parse *kong.ParseError
	if !errors.As(e.err, &parse) || parse.Context == nil || parse.Context.Selected() == nil {
		return ""
	}
	return strings.TrimSpace(parse.Context.Selected().Path())
}
