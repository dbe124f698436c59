package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd is "accessc man".
type manCmd struct {
	Dir string `arg:"" optional:"" name:"directory" help:"Write accessc.1 and a page per command into it."`
}

// Help implements kong's detailed help.
func (manCmd) Help() string {
	return `  accessc man | man -l -
  accessc man "$DESTDIR/usr/share/man/man1"`
}

// Run implements the command.
func (c *manCmd) Run(g *globals) error {
	var all cli
	parser, err := newParser(&all, "", io.Discard, io.Discard, func(int) {})
	if err != nil {
		return err
	}
	if c.Dir == "" {
		_, err = io.WriteString(g.stdout, manPage(parser.Model))
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	pages := map[string]string{"accessc.1": manPage(parser.Model)}
	for _, ch := range parser.Model.Children {
		if !ch.Hidden {
			pages["accessc-"+ch.Name+".1"] = commandPage(ch)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(pages[name]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// manPage renders the model of the command line as a manual page (man(7)).
func manPage(m *kong.Application) string {
	var b strings.Builder
	title(&b, "accessc", description)
	b.WriteString(".SH SYNOPSIS\n.B accessc\n.I COMMAND\n[\\fIflags\\fR]\n.SH DESCRIPTION\n")
	body(&b, strings.TrimSpace(descriptionMore))
	b.WriteString(".SH COMMANDS\n")
	for _, ch := range m.Children {
		if !ch.Hidden {
			fmt.Fprintf(&b, ".TP\n.BR accessc\\-%s (1)\n%s\n", roff(ch.Name), roff(ch.Help))
		}
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
	return b.String()
}

// commandPage is the page of a command and of those in it.
func commandPage(n *kong.Node) string {
	var b strings.Builder
	title(&b, "accessc-"+n.Name, n.Help)
	b.WriteString(".SH SYNOPSIS\n")
	synopsis(&b, n)
	b.WriteString(".SH DESCRIPTION\n")
	body(&b, n.Help+"\n\n"+n.Detail)
	options(&b, n, ".SH")
	for _, ch := range n.Children {
		if ch.Hidden {
			continue
		}
		fmt.Fprintf(&b, ".SH COMMAND %s\n", roff(strings.ToUpper(ch.Name)))
		synopsis(&b, ch)
		b.WriteString(".PP\n")
		body(&b, ch.Help+"\n\n"+ch.Detail)
		options(&b, ch, ".SS")
	}
	b.WriteString(".SH SEE ALSO\n.BR accessc (1)\n")
	return b.String()
}

// title begins a page. It has no date: the same program prints the same pages.
func title(b *strings.Builder, name, help string) {
	fmt.Fprintf(b, ".TH %s 1 \"\" \"accessc %s\"\n", roff(strings.ToUpper(name)), roff(programVersion()))
	purpose := strings.ToLower(help[:1]) + strings.TrimSuffix(help[1:], ".")
	fmt.Fprintf(b, ".SH NAME\n%s \\- %s\n", roff(name), roff(purpose))
}

// synopsis is how a command is called.
func synopsis(b *strings.Builder, n *kong.Node) {
	rest := strings.TrimSpace(strings.TrimPrefix(n.Summary(), n.Path()))
	fmt.Fprintf(b, ".B %s\n%s\n", roff(n.FullPath()), roff(rest))
}

// options are the arguments and flags of a command, below headings of a macro.
func options(b *strings.Builder, n *kong.Node, heading string) {
	if len(n.Positional) > 0 {
		b.WriteString(heading + " ARGUMENTS\n")
		for _, a := range n.Positional {
			fmt.Fprintf(b, ".TP\n.I %s\n%s\n", roff(a.Name), roff(a.Help))
		}
	}
	if slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return !f.Hidden }) {
		b.WriteString(heading + " OPTIONS\n")
		flags(b, n.Flags)
	}
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

// body writes text: paragraphs are filled, and blocks with indented lines, examples and tables, stay as they are.
func body(b *strings.Builder, text string) {
	for i, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		p = roff(strings.Trim(p, "\n")) + "\n"
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			p = ".nf\n" + p + ".fi\n"
		}
		b.WriteString(p)
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
