package bundle

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/contextjson"
	"github.com/accessc/accessc/backends/oci"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/ir"
)

// Start is what a container starts.
type Start struct {
	Tool string
	// Command has the bundle's own command started, Args are added to the command.
	Command bool
	Args    []string
	Accept  []string
	// Mounts does without accessc inside.
	Mounts bool
}

// Of is the tool that the container starts.
func (s Start) Of(res *hostfacts.Result, b *Bundle) (*ir.Tool, error) {
	found, err := config.Tool(res.Program, s.Tool)
	switch {
	case err != nil:
		return nil, err
	case found.Source.Kind != ir.SourceLocal:
		return nil, usage.Errorf("%s is not started by accessc: its source is %s", found.Name, found.Source)
	case found.Constraints != nil && found.Constraints.Forbidden:
		return nil, usage.Errorf("the constraints of %s forbid it: %s", found.Name, found.Constraints.Origin)
	}
	t := *found
	for _, gap := range s.Accept {
		t.Accept = append(slices.Clip(t.Accept), ir.Acceptance{Gap: ir.Gap(gap)})
	}
	words := s.Args
	switch {
	case s.Command && len(b.config.Process.Args) == 0:
		return nil, usage.Errorf("--command: %s starts no command", b.File(ConfigFile))
	case s.Command:
		words = slices.Concat(b.config.Process.Args, words)
		t.Command = &ir.Command{Program: words[0], Args: words[1:]}
	case len(words) > 0 && (t.Command == nil || t.Command.Shell):
		return nil, usage.Errorf("%s has no command, or one for a shell, to which arguments could be added", t.Name)
	case len(words) > 0:
		t.Command = &ir.Command{Program: t.Command.Program, Args: slices.Concat(t.Command.Args, words)}
	}
	if i := slices.IndexFunc(words, func(word string) bool { return strings.Contains(word, "{{") }); i >= 0 {
		return nil, usage.Errorf("{{ in %q would be replaced; name the command in the policy", words[i])
	}
	return &t, nil
}

// Describe compiles a tool for this host, with the Context that it will get.
func (s Start) Describe(t *ir.Tool, res *hostfacts.Result) (*oci.Document, error) {
	target := backends.Target{Form: backends.Resolved, Facts: res.Facts(t), Node: res.Node}
	var form backends.Backend = oci.Backend{}
	if s.Mounts {
		form = oci.Apart{}
	}
	out, findings, err := build.Compile(t, []backends.Backend{contextjson.Backend{}, form}, target)
	if err == nil && findings.Failed() {
		err = errors.New(findings[0].Label)
	}
	if err != nil {
		return nil, err
	}
	return oci.Parse(out.Files[form.File()])
}

// Gap is a requirement of a policy that mounts do not meet, and why.
type Gap struct{ Name, Why string }

// Unmet are the gaps that are not accepted: where accessc does not start inside, no start will ask.
func Unmet(d *oci.Document) ([]Gap, error) {
	ledger, err := backends.Ledger(d.Ledger)
	if err != nil {
		return nil, err
	}
	why := map[string][]ir.Cause{}
	for _, row := range ledger {
		gap := string(row.Gap)
		if row.Is.Held() || slices.Contains(d.Accept, gap) {
			continue
		}
		if _, known := why[gap]; !known {
			why[gap] = nil
		}
		for _, cause := range row.Causes {
			if !slices.Contains(why[gap], cause) {
				why[gap] = append(why[gap], cause)
			}
		}
	}
	var out []Gap
	for _, gap := range slices.Sorted(maps.Keys(why)) {
		out = append(out, Gap{gap, registry.Why(why[gap])})
	}
	return out, nil
}
