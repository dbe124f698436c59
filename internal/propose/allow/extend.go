package allow

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/presets"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// extension is the preset that speaks for the place of a group: a toolchain lies in a directory of the home, and
// its programs are needed together. Empty where none does, where a preset opens more than files and
// variables, and where the layer has a list of presets that lacks it.
// See decision D215.
func (p *Planner) extension(g group) string {
	name := ""
	for _, a := range g.asks {
		about := ir.Describe(a.Operation)
		abs, ok := p.asker.Bindings.Path(about.Places[0].At)
		rest, inside := strings.CutPrefix(abs, p.home()+"/")
		if !ok || !inside || p.home() == "" || (about.Needs[0]|a.own)&ir.Write != 0 {
			return ""
		}
		named := presets.About("~/" + rest)
		if len(named) != 1 || name != "" && name != named[0] {
			return ""
		}
		name = named[0]
	}
	x, _ := presets.Find(name)
	toolchain := func(r preset) bool { return directory(r.target) || g.asks[0].sought }
	if x == nil || x.Rules.Get("net") != nil || !slices.ContainsFunc(p.places(x), toolchain) {
		return ""
	}
	if has := p.extends(p.Tool); has != nil && !has[source.Preset+name] {
		return ""
	}
	return name
}

// Sought are operations for files that a tool looked for in its own home: the reads of files in the user's home that
// one preset has rules on. See decision D215.
func (p *Policy) Sought(names []string) (out []denial.Entry) {
	asked := map[string]bool{}
	for _, name := range names {
		about := presets.Beside(name)
		if len(about) != 1 || asked[about[0]] {
			continue
		}
		asked[about[0]] = true
		x, _ := presets.Find(about[0])
		for _, r := range p.places(x) {
			out = append(out, denial.Entry{
				Times: 1, Operation: "read", Target: r.name, Question: []string{"read", r.target},
				Needs: []string{"read"}, Sought: true,
				Reason: "the tool looked for it in its own home",
			})
		}
	}
	return out
}

// preset is a rule of a preset about a place of the home that is there.
type preset struct{ name, target string }

func (p *Policy) places(x *presets.Preset) (out []preset) {
	list := x.Rules.Get("fs")
	if list == nil {
		return nil
	}
	for _, r := range list.Array {
		name := r.Table.Get("path").Text
		found, err := p.Now.Resolver.Rule(name)
		if err == nil && found.Kind != ir.Absent && !found.Inside {
			out = append(out, preset{name, found.Abs})
		}
	}
	return out
}

// PresetsAbout are the presets that have rules on refused places of the home.
func PresetsAbout(entries []denial.Entry) []string {
	home, err := os.UserHomeDir()
	if real, wrong := filepath.EvalSymlinks(home); wrong == nil {
		home = real
	}
	var out []string
	for _, e := range entries {
		if err != nil || len(e.Question) < 2 || e.Probe != "" {
			continue
		}
		if rest, ok := strings.CutPrefix(e.Question[1], filepath.ToSlash(home)+"/"); ok {
			out = append(out, presets.About("~/"+rest)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// PresetsText says how a tool gets the rules of presets.
func PresetsText(names []string) string {
	if len(names) == 0 {
		return ""
	}
	var list []string
	for i, n := range names {
		names[i] = source.Preset + n
		list = append(list, tomltext.String(names[i]))
	}
	return fmt.Sprintf(
		"presets have rules on such places: access.extends = [%s] in the tool's table, then accessc approve %s\n",
		strings.Join(list, ", "),
		strings.Join(names, " "),
	)
}
