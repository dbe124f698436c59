package main

import (
	"errors"
	"fmt"

	"github.com/accessc/accessc/compiler/presets"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/review/explain"
)

// presetCmd is "accessc preset".
type presetCmd struct {
	List presetListCmd `cmd:"" help:"List the presets: name, version and purpose."`
	Show presetShowCmd `cmd:"" help:"Print a preset: its rules, and the reason for each."`
}

// Help implements kong's detailed help.
func (presetCmd) Help() string {
	return `A preset has the rules that a toolchain or an agent needs: places of your home, hosts, variables. It only adds
to a policy, and where a rule of the tool's own names the same place, host or variable, that rule decides.

  access.extends = ["preset:rust"]           in the table of a tool: for that tool
  extends = ["preset:rust@1"]                at the top of a file: for its local tools; @1 pins the version
  accessc exec --command --preset rust -- cargo build

Presets for downloads, such as cargo-registry, are apart from those for files. Places of your home need your
approval where a repository names the preset: accessc approve shows each, with the reason.`
}

// presetListCmd is "accessc preset list".
type presetListCmd struct {
	Format string `enum:"text,json" default:"text" help:"Output format: text or json."`
}

// presetsDoc is the list for programs.
type presetsDoc struct {
	Version int         `json:"format_version"`
	Presets []presetDoc `json:"presets"`
}

type presetDoc struct {
	Name    string `json:"name"`
	Version int64  `json:"version"`
	Purpose string `json:"purpose"`
}

// Run implements the command.
func (c *presetListCmd) Run(g *globals) error {
	doc := presetsDoc{Version: 1}
	var rows [][]string
	for _, name := range presets.Names() {
		p, bad := presets.Find(name)
		if bad != nil {
			return errors.New(bad.Label)
		}
		doc.Presets = append(doc.Presets, presetDoc{p.Name, p.Version, p.Purpose})
		rows = append(rows, []string{p.Name, fmt.Sprint(p.Version), p.Purpose})
	}
	if c.Format == "json" {
		return g.writeJSON(doc)
	}
	_, err := fmt.Fprint(g.stdout, explain.Table(rows))
	return err
}

// presetShowCmd is "accessc preset show".
type presetShowCmd struct {
	Preset string `arg:"" name:"preset" help:"The preset's name."`
}

// Run implements the command.
func (c *presetShowCmd) Run(g *globals) error {
	p, err := config.Preset(c.Preset)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(g.stdout, p.Text())
	return err
}

// presetValues are the candidates for the name of a preset.
func presetValues() []string {
	var out []string
	for _, name := range presets.Names() {
		if p, bad := presets.Find(name); bad == nil {
			out = append(out, name+"\t"+p.Purpose)
		}
	}
	return out
}
