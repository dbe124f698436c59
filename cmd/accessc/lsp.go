package main

import (
	"os"

	"github.com/accessc/accessc/internal/review/editor"
)

// lspCmd is "accessc lsp".
type lspCmd struct {
	Stdio bool `help:"Speak on standard input and output, as always; for editors that pass it."`
}

// Help implements kong's detailed help.
func (lspCmd) Help() string {
	return `A language server for policies, on standard input and output; an editor starts it. While you type it shows
the findings of accessc check, also of files that are not saved, and the rows of accessc explain at a rule; it completes
keys, presets and tools, leads to the rule that wins, corrects findings, proposes rules for what a tool's last run was
refused, and formats as accessc fmt does. It starts no tool. docs/editors.md has the settings of editors.`
}

// Run implements the command.
func (c *lspCmd) Run(g *globals) error {
	// The messages are the editor's to read: nothing of them may be written otherwise than it is.
	style := g.style(nil)
	style.Color, style.Width = false, 0
	orderly, err := editor.Serve(g.stdin, os.Stdout, editor.Options{
		Config: g.config(), Style: style, Schema: schema, Version: version,
	})
	if err == nil && !orderly {
		return exit(exitFindings)
	}
	return err
}
