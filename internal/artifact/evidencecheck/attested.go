package evidencecheck

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/denial/evidencelog"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// Attested are the policies that the caller vouches for: of resolved artifacts and of manifests.
type Attested struct {
	artifacts map[string]*landlock.Spec // by their hashes
	policies  map[string]*ir.Tool       // by theirs
}

// Artifact adds the text of a resolved artifact.
func (a *Attested) Artifact(text []byte) error {
	spec, err := landlock.Parse(text)
	if err != nil {
		return err
	}
	if a.artifacts == nil {
		a.artifacts = map[string]*landlock.Spec{}
	}
	a.artifacts[build.Hash(text)] = spec
	return nil
}

// Manifest adds the policies of a manifest.
func (a *Attested) Manifest(m *build.Manifest) error {
	tools, err := m.Policies()
	if err != nil {
		return err
	}
	if a.policies == nil {
		a.policies = map[string]*ir.Tool{}
	}
	for i, t := range tools {
		if hash := m.Tools[i].Hash; hash != "" {
			a.policies[hash] = t.Tool
		}
	}
	return nil
}

// Terms are Options.Terms: those of a run, if they are of a policy that is attested.
func (a *Attested) Terms(l *evidencelog.Line) (*landlock.Terms, error) {
	terms := l.Begin.Terms
	tool, _, err := terms.Read()
	if err != nil {
		return nil, err
	}
	// What the user could grant during the run is beside the rules.
	tool.May, tool.MayNet = nil, nil
	if spec := a.artifacts[l.Begin.Artifact]; spec != nil {
		return terms, a.byArtifact(spec, terms, tool)
	}
	policy := a.policies[l.Policy]
	if policy == nil {
		return nil, errors.New("is by a policy that is none of the attested ones")
	}
	want, err := rules(policy)
	if err != nil {
		return nil, err
	}
	if have, err := rules(tool); err != nil || !bytes.Equal(have, want) {
		return nil, errors.New("names an attested policy, and has other rules")
	}
	return terms, nil
}

// byArtifact compares terms with those of an artifact, whose run has another temporary directory.
func (a *Attested) byArtifact(spec *landlock.Spec, terms *landlock.Terms, tool *ir.Tool) error {
	want, err := spec.Terms()
	if err != nil {
		return fmt.Errorf("is by an artifact by which nothing is judged: %w", err)
	}
	attested, _, err := want.Read()
	if err != nil {
		return err
	}
	have := *terms
	have.Policy, want.Policy, want.Temp = nil, nil, have.Temp
	one, err := irjson.Marshal(&ir.Program{Tools: []*ir.Tool{tool}})
	if err != nil {
		return err
	}
	other, err := irjson.Marshal(&ir.Program{Tools: []*ir.Tool{attested}})
	if err != nil || !bytes.Equal(one, other) || !reflect.DeepEqual(&have, want) {
		return errors.New("names an attested artifact, and has other terms")
	}
	return nil
}

// rules are the rules of a policy by which operations are judged, without their places.
func rules(t *ir.Tool) ([]byte, error) {
	part := &ir.Tool{Name: t.Name, Source: ir.Source{Kind: ir.SourceLocal}, Base: t.Base, Home: t.Home, FS: t.FS,
		Net: t.Net, Commands: t.Commands, Declared: t.Declared, Protects: t.Protects}
	return irjson.MarshalBare(&ir.Program{Tools: []*ir.Tool{part}})
}
