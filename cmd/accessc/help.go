package main

import (
	"errors"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/accessc/accessc/internal/text/shellword"
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
		return "unknown flag " + flag + "; the arguments of another program stand behind --: " + line
	}
	return e.err.Error()
}

// foreign are the commands that another program's words follow, each with how many of its own arguments come before.
var foreign = map[string]int{"exec": 1, "learn": 1, "mcp": 0, "acp": 0}

// another is a flag behind the first words of another program, and the line with "--" in front of them; empty where the
// flag may be meant as this program's.
func (e callError) another() (flag, line string) {
	rest, unknown := strings.CutPrefix(e.err.Error(), "unknown flag ")
	own, known := foreign[e.command()]
	var parse *kong.ParseError
	if !unknown || !known || !errors.As(e.err, &parse) {
		return "", ""
	}
	flag, _, _ = strings.Cut(rest, ",")
	args, at := parse.Context.Args, -1
	t := typed{node: parse.Context.Model.Node, flags: map[string][]string{}}
	for i, word := range args {
		if !t.behind && t.flag == nil && strings.HasPrefix(word, flag) {
			break
		}
		t.read(word)
		if len(t.args) == max(own, 1) && at < 0 {
			at = i + own
		}
	}
	if at < 0 {
		return "", ""
	}
	words := []string{"accessc"}
	for i, word := range args {
		if i == at {
			words = append(words, "--")
		}
		words = append(words, shellword.Quote(word))
	}
	return flag, strings.Join(words, " ")
}

// Unwrap has it be a mistake of the call.
func (e callError) Unwrap() error { return usageError{Err: e.err} }

// hint says where to read on, and names the usual mistakes.
func (e callError) hint() string {
	name := e.command()
	out := strings.Replace("accessc "+name+" --help says more", "  ", " ", 1)
	if _, line := e.another(); name == "exec" && line == "" && strings.HasPrefix(e.Error(), "unknown flag") {
		out = "arguments of the tool stand behind --, as in: accessc exec TOOL -- -x\n" + out
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
