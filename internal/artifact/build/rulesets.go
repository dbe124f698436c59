package build

import (
	"fmt"

	"github.com/accessc/accessc/internal/artifact/entry"
	"github.com/accessc/accessc/ruleset"
)

// workspace stands for the workspace's root where a manifest is read: only the rulesets' names of
// directories are below it.
const workspace = "/workspace"

func rulesetEntries(sets []*ruleset.Set) ([]entry.Ruleset, error) {
	var out []entry.Ruleset
	for _, s := range sets {
		e, err := entry.NewRuleset(s)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// Sets returns the rulesets in a manifest, for comparison.
func (m *Manifest) Sets() ([]*ruleset.Set, error) {
	var out []*ruleset.Set
	for _, e := range m.Rulesets {
		s, err := e.Set(workspace)
		if err != nil {
			return nil, fmt.Errorf("%w: ruleset %s: %w", errManifest, e.Name, err)
		}
		out = append(out, s)
	}
	return out, nil
}
