package compiler

import (
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/shellword/split"
	"github.com/accessc/accessc/ir"
)

// command reads a tool's command: a string that is split by shell words, or a
// table of program, args and shell.
func (s scope) command(e *source.Entry) *ir.Command {
	v := e.Value
	//exhaustive:ignore
	switch v.Kind {
	case source.StringKind:
		words, err := split.Words(v.Text)
		if err != nil {
			f := s.report(diag.BadCommand, v, err.Error())
			f.Hint = `quote it, or write command = { program = "…", shell = true }`
			return nil
		}
		return &ir.Command{Program: words[0], Args: nilIfEmpty(words[1:]), Origin: s.origin(v.At)}
	case source.TableKind:
		return s.commandTable(v)
	default:
		s.expect(v, "a string or a table")
		return nil
	}
}

func (s scope) commandTable(v *source.Value) *ir.Command {
	c := &ir.Command{Origin: s.origin(v.At)}
	s.fields(v.Table, "the command of a tool", []string{"program", "args", "shell"})
	for i := range v.Table.Entries {
		e := &v.Table.Entries[i]
		switch in := s.key(e.Key); e.Key {
		case "program":
			c.Program, _ = in.str(e.Value)
		case "args":
			c.Args = in.strs(e.Value)
		case "shell":
			c.Shell = in.boolean(e.Value)
		}
	}
	if c.Program == "" {
		s.missing(v, "a command", "program")
		return nil
	}
	if c.Shell && strings.Contains(c.Program, "{{") {
		f := s.report(diag.BadCommand, v.Table.Get("program"),
			"found a placeholder in text for a shell, which would read it as code")
		f.Hint = `pass it as an argument: args = ["{{…}}"] is added behind the text, quoted`
		return nil
	}
	return c
}

func nilIfEmpty(s []string) []string {
	if len(s) == 0 {
		return nil
	}
	return s
}
