package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/accessc/accessc/compiler/presets"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/internal/text/tomltext"
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
	p, err := findPreset(c.Preset)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(g.stdout, p.Text())
	return err
}

// findPreset finds a preset by a name that a user gives, with or without its prefix and version.
func findPreset(text string) (*presets.Preset, error) {
	bare := strings.TrimPrefix(text, source.Preset)
	name, version, pinned := strings.Cut(bare, "@")
	p, bad := presets.Find(name)
	switch {
	case bad != nil:
		return nil, errors.New(bad.Label)
	case p == nil:
		hint := cmp.Or(suggest.Hint(name, presets.Names()), "accessc preset list names them")
		return nil, usagef("there is no preset %q; %s", text, hint)
	case pinned && version != fmt.Sprint(p.Version):
		return nil, usagef("there is no %s: this accessc has %s", text, p)
	default:
		return p, nil
	}
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

// commandWith is the name of the tool that a command with presets runs as. Each choice of presets
// has a private home of its own, so that no other command reads an agent's login.
// See RATIONALE D194.
func commandWith(chosen []*presets.Preset) string {
	name := "command"
	for _, p := range chosen {
		name += "-" + p.Name
	}
	return name
}

// extending returns the settings by which a tool extends presets and has further rules, and the tool's name: that of
// a command without one.
func extending(names []string, tool string, lists []list) (string, []string, error) {
	var chosen []*presets.Preset
	var named []string
	for _, text := range names {
		p, err := findPreset(text)
		if err != nil {
			return "", nil, err
		}
		chosen = append(chosen, p)
		named = append(named, tomltext.String(source.Preset+p.Name))
	}
	if len(chosen)+len(lists) == 0 {
		return tool, nil, nil
	}
	var sets []string
	if tool == "" {
		tool = commandWith(chosen)
		sets = append(sets, "tools."+tomltext.Key(tool)+`.source="local"`)
	}
	access := "tools." + tomltext.Key(tool) + ".access."
	if len(chosen) > 0 {
		sets = append(sets, access+"extends=["+strings.Join(named, ", ")+"]")
	}
	for _, l := range lists {
		sets = append(sets, access+l.key+"="+l.text())
	}
	return tool, sets, nil
}
