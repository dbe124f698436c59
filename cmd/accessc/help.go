package main

import (
	"errors"
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

// Error implements error.
func (e callError) Error() string { return e.err.Error() }

// Unwrap has it be a mistake of the call.
func (e callError) Unwrap() error { return usageError(e) }

// hint says where to read on, and names the usual mistakes.
func (e callError) hint() string {
	name := e.command()
	out := strings.Replace("accessc "+name+" --help says more", "  ", " ", 1)
	if name == "exec" && strings.HasPrefix(e.Error(), "unknown flag") {
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
