package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd is "accessc man".
type manCmd struct{}

// Help implements kong's detailed help.
func (manCmd) Help() string { return "  accessc man | man -l -" }

// Run implements the command.
func (manCmd) Run(g *globals) error {
	var c cli
	parser, err := newParser(&c, "", io.Discard, io.Discard, func(int) {})
	if err != nil {
		return err
	}
	return writeMan(g.stdout, parser.Model)
}

// writeMan renders the model of the command line as a manual page (man(7)).
func writeMan(w io.Writer, m *kong.Application) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH ACCESSC 1 \"\" \"accessc %s\"\n.SH NAME\naccessc \\- %s\n", roff(programVersion()), roff(firstLower(description)))
	b.WriteString(".SH SYNOPSIS\n.B accessc\n.I COMMAND\n[\\fIflags\\fR]\n.SH DESCRIPTION\n")
	paragraphs(&b, strings.TrimSpace(descriptionMore))
	b.WriteString(".SH COMMANDS\n")
	for _, ch := range m.Children {
		if ch.Hidden {
			continue
		}
		fmt.Fprintf(&b, ".SS %s\n%s\n", roff(ch.Summary()), roff(ch.Help))
		if ch.Detail != "" {
			b.WriteString(".PP\n.nf\n" + roff(ch.Detail) + "\n.fi\n")
		}
		flags(&b, ch.Flags)
	}
	b.WriteString(".SH GLOBAL FLAGS\n")
	flags(&b, m.Flags)
	b.WriteString(".SH FILES\n")
	for _, f := range [][2]string{
		{"$XDG_CONFIG_HOME/accessc/config.toml", "the user's own layer"},
		{".jp/config.toml, accessc.toml", "the workspace's layers"},
		{".accessc/local.toml", "the layer that is not committed"},
		{"$XDG_STATE_HOME/accessc/workspaces", "approvals and the private homes of tools"},
	} {
		fmt.Fprintf(&b, ".TP\n%s\n%s\n", roff(f[0]), roff(f[1]))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func flags(b *strings.Builder, fs []*kong.Flag) {
	for _, f := range fs {
		if f.Hidden {
			continue
		}
		name := "--" + f.Name
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		if !f.IsBool() {
			name += "=" + f.FormatPlaceHolder()
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name), roff(f.Help))
	}
}

func paragraphs(b *strings.Builder, text string) {
	for _, p := range strings.Split(text, "\n\n") {
		b.WriteString(".PP\n" + roff(p) + "\n")
	}
}

// roff escapes characters that are special to the formatter: backslashes, leading dots and
// quotes, and hyphens that are meant as minus signs.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

func firstLower(s string) string { return strings.ToLower(s[:1]) + strings.TrimSuffix(s[1:], ".") }
