package config

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/accessc/accessc/compiler/presets"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/internal/text/usage"
)

// Preset finds a preset by a name that a user gives, with or without its prefix and version.
func Preset(text string) (*presets.Preset, error) {
	bare := strings.TrimPrefix(text, source.Preset)
	name, version, pinned := strings.Cut(bare, "@")
	p, bad := presets.Find(name)
	switch {
	case bad != nil:
		return nil, errors.New(bad.Label)
	case p == nil:
		hint := cmp.Or(suggest.Hint(name, presets.Names()), "accessc preset list names them")
		return nil, usage.Errorf("there is no preset %q; %s", text, hint)
	case pinned && version != fmt.Sprint(p.Version):
		return nil, usage.Errorf("there is no %s: this accessc has %s", text, p)
	default:
		return p, nil
	}
}

// commandWith is the name of the tool that a command with presets runs as. Each choice of presets
// has a private home of its own, so that no other command reads an agent's login.
// See decision D194.
func commandWith(chosen []*presets.Preset) string {
	name := "command"
	for _, p := range chosen {
		name += "-" + p.Name
	}
	return name
}

// List is the rules of one key of access.
type List struct {
	Key   string
	Rules []string
}

// Text is the value of the list in TOML.
func (l List) Text() string { return "[" + strings.Join(l.Rules, ", ") + "]" }

// Extending returns the settings by which a tool extends presets and has further rules, and the tool's name: that of
// a command without one.
func Extending(names []string, tool string, lists []List) (string, []string, error) {
	var chosen []*presets.Preset
	var named []string
	for _, text := range names {
		p, err := Preset(text)
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
		sets = append(sets, access+l.Key+"="+l.Text())
	}
	return tool, sets, nil
}
