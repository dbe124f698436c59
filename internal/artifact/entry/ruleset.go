// Package entry is what manifests and reviews say alike of a tool and of a ruleset, in their text forms. It is a
// function of its arguments, so that reviews are made anywhere.
package entry

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulejson"
)

// Ruleset is one ruleset in the manifest.
type Ruleset struct {
	rulejson.SetDoc
	// Hash is that of its verdicts, independent of their origins.
	Hash string `json:"policy_sha256"`
	// Is says how it is enforced, in the word of the ledger.
	Is string `json:"is"`
}

// RulesetLevel is how rulesets are enforced on every system: the program that asks obeys, or not. No
// kernel sees a command line.
// See decision D94.
const RulesetLevel = ir.Advisory

// NewRuleset describes a ruleset as the manifest does.
func NewRuleset(s *ruleset.Set) (Ruleset, error) {
	e := Ruleset{SetDoc: rulejson.Doc(s), Is: RulesetLevel.String()}
	bare, err := e.Bare()
	e.Hash = Hash(bare)
	return e, err
}

// Hash returns the digest of an artifact or a policy as documents write it.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
