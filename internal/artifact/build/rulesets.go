package build

import (
	"fmt"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulejson"
)

// RulesetEntry is a ruleset in the manifest.
type RulesetEntry struct {
	rulejson.SetDoc
	// Hash is the hash of its verdicts, independent of their origins.
	Hash string `json:"policy_sha256"`
	// Is says how it is enforced, in the word of the ledger.
	Is string `json:"is"`
}

// RulesetLevel is how rulesets are enforced on every system: the program that asks obeys, or not. No
// kernel sees a command line.
// See decision D94.
const RulesetLevel = ir.Advisory

// workspace stands for the workspace's root where a manifest is read: only the rulesets' names of
// directories are below it.
const workspace = "/workspace"

func rulesetEntries(sets []*ruleset.Set) ([]RulesetEntry, error) {
	var out []RulesetEntry
	for _, s := range sets {
		e, err := NewRulesetEntry(s)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// NewRulesetEntry describes a ruleset as the manifest does.
func NewRulesetEntry(s *ruleset.Set) (RulesetEntry, error) {
	e := RulesetEntry{SetDoc: rulejson.Doc(s), Is: RulesetLevel.String()}
	bare, err := e.Bare()
	e.Hash = Hash(bare)
	return e, err
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
