package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/ir"
)

// parityCmd is "accessc parity".
type parityCmd struct {
	Target []string `placeholder:"TARGET" help:"Show this target alone: linux, darwin, windows, or a backend such as srt, also one of others as build takes it. Repeatable; all of them by default."`
	Why    bool     `short:"v" help:"Also print the reasons behind each word."`
	Format string   `enum:"text,json" default:"text" help:"Output format: text or json."`
	Tools  []string `arg:"" optional:"" name:"tool" help:"The tools; all of them by default."`
}

// Help implements kong's detailed help.
func (parityCmd) Help() string {
	return `Prints a table of rules and targets: where a rule of the policy holds as it says, and where not. A target is a system that
accessc starts tools on, or another program that build --target compiles settings for. The word of a rule is that of its weakest
part:

` + explain.Legend(explain.Style{Width: 78}) + `
  accessc parity -v edit                         with the reasons, one tool
  accessc parity --target linux --target srt     two targets`
}

// parityVersion is the version of the JSON form, that of documents with rows of ledgers.
const parityVersion = 2

// Run implements the command.
func (c *parityCmd) Run(g *globals) error {
	targets, others := registry.Every, plugins(nil)
	if len(c.Target) > 0 {
		var err error
		if targets, others, err = selectTargets(c.Target); err != nil {
			return err
		}
		targets = slices.Concat(targets, others.columns())
	}
	res, err := g.asking().compile(false, c.Tools...)
	if err != nil {
		return err
	}
	if err := others.outside(res.Resolver.Root); err != nil {
		return err
	}
	tools, err := config.Tools(res.Program, c.Tools)
	if err != nil {
		return err
	}
	tools = slices.DeleteFunc(slices.Clone(tools), func(t *ir.Tool) bool { return t.Source.Kind != ir.SourceLocal })
	if len(tools) == 0 {
		tools = []*ir.Tool{ir.NewTool("default")}
		fmt.Fprintln(g.stderr, "no configuration file defines a tool that accessc confines; "+
			"this is the policy that every command gets")
	}
	var all []*explain.Parity
	for _, t := range tools {
		p, err := explain.NewParity(t, targets, g.style(g.stdout))
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	if c.Format == "json" {
		return g.writeJSON(parityDoc(all, targets))
	}
	return c.print(g, all)
}

func parityDoc(all []*explain.Parity, targets []backends.Backend) explain.ParityDoc {
	doc := explain.ParityDoc{Version: parityVersion, Targets: explain.ParityTargets(targets)}
	for _, p := range all {
		doc.Tools = append(doc.Tools, p.JSON())
	}
	return doc
}

// print prints the tables. Tools with the same one share it.
func (c *parityCmd) print(g *globals, all []*explain.Parity) error {
	style := g.style(g.stdout)
	var texts []string
	names := map[string][]string{}
	for _, p := range all {
		text := p.Text(style, c.Why)
		if names[text] == nil {
			texts = append(texts, text)
		}
		names[text] = append(names[text], p.Name())
	}
	for i, text := range texts {
		if i > 0 {
			fmt.Fprintln(g.stdout)
		}
		head := paint(style.Color, "1", strings.Join(names[text], ", "))
		if _, err := fmt.Fprint(g.stdout, style.Hang(head+"\n", 2)+text); err != nil {
			return err
		}
	}
	return nil
}
