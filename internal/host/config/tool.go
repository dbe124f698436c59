package config

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
)

// Tool finds a tool by name.
func Tool(p *ir.Program, name string) (*ir.Tool, error) {
	if t, ok := p.Tool(name); ok {
		return t, nil
	}
	var names []string
	for _, t := range p.Tools {
		names = append(names, t.Name)
	}
	if len(names) == 0 {
		return nil, usage.Errorf("there is no tool %q: no layer defines any; accessc init writes a starter", name)
	}
	if near := suggest.Hint(name, names); near != "" {
		return nil, usage.Errorf("there is no tool %q; %s", name, near)
	}
	return nil, usage.Errorf("there is no tool %q; the tools are %s", name, strings.Join(names, ", "))
}

// Tools finds tools by names; all without any.
func Tools(p *ir.Program, names []string) ([]*ir.Tool, error) {
	if len(names) == 0 {
		return p.Tools, nil
	}
	var out []*ir.Tool
	for _, name := range names {
		t, err := Tool(p, name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// Confined finds a tool that has a policy.
func Confined(res *hostfacts.Result, name string) (*ir.Tool, error) {
	if res.Wrong(name) {
		above := func(d diag.Diagnostic) bool { return d.Code == diag.AboveMaximum }
		if slices.ContainsFunc(res.Concerning(name), above) {
			return nil, usage.Errorf("%s is permitted more than the maximum of this machine: accessc check shows it",
				name)
		}
		return nil, usage.Errorf("%s has mistakes: accessc check shows them", name)
	}
	t, err := Tool(res.Program, name)
	if err == nil && t.Source.Kind != ir.SourceLocal {
		err = usage.Errorf("%s has no policy: its source is %s", t.Name, t.Source)
	}
	return t, err
}

// Judging is the tool whose policy judges operations besides a ruleset: the one of a name, and
// without a name one with the default policy.
func Judging(res *hostfacts.Result, name string) (*ir.Tool, error) {
	if name != "" {
		return Confined(res, name)
	}
	t := ir.NewTool("command")
	if _, above := res.Within(t, nil); above.Failed() {
		return nil, usage.Errorf("%s: %s", above[0].Message, above[0].Label)
	}
	return t, nil
}

// Ruleset finds a ruleset by name; without a name it is the only one, or the one named default.
func Ruleset(sets []*ruleset.Set, name string) (*ruleset.Set, error) {
	if name == "" && len(sets) == 1 {
		return sets[0], nil
	}
	want := name
	if want == "" {
		want = "default"
	}
	var names []string
	for _, s := range sets {
		if s.Name == want {
			return s, nil
		}
		names = append(names, s.Name)
	}
	switch {
	case len(sets) == 0:
		return nil, usage.Errorf("there is no ruleset: no layer has [[rulesets.NAME.rules]]")
	case name == "":
		return nil, usage.Errorf("expected --ruleset with one of %s", strings.Join(names, ", "))
	}
	if near := suggest.Hint(name, names); near != "" {
		return nil, usage.Errorf("there is no ruleset %q; %s", name, near)
	}
	return nil, usage.Errorf("there is no ruleset %q; the rulesets are %s", name, strings.Join(names, ", "))
}
