package build

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/artifact/entry"
	"github.com/accessc/accessc/internal/artifact/evidence"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// ManifestFile is the name of the manifest in an output directory.
const ManifestFile = "manifest.json"

// manifestFormat and manifestVersion identify the document.
const (
	manifestFormat  = "accessc/manifest"
	manifestVersion = 2
)

// Manifest lists every tool of a build with its permissions, their enforcement on each system,
// and the artifacts.
type Manifest struct {
	backends.Header
	// Policy is the hash of all tools' policies and of the rulesets together.
	Policy string  `json:"policy_sha256"`
	Tools  []Entry `json:"-"`
	// Rulesets are those by which operations of agents are decided.
	Rulesets []entry.Ruleset `json:"rulesets,omitempty"`
}

// Entry is a tool in the manifest. A tool that accessc does not start has a source, its
// constraints and nothing else.
type Entry struct {
	Name      string            `json:"name"`
	Source    string            `json:"source"`
	Confined  bool              `json:"confined"`
	Risk      string            `json:"risk,omitempty"`
	Hash      string            `json:"policy_sha256,omitempty"`
	Artifacts map[string]string `json:"artifacts,omitempty"`
	// Sensitive are the patterns that some grant reaches.
	Sensitive []string        `json:"sensitive,omitempty"`
	Policy    *irjson.ToolDoc `json:"-"`
	// Constraints are the constraints of a tool that is not confined; a confined tool has them
	// in its policy.
	Constraints *irjson.ConstraintsDoc `json:"constraints,omitempty"`
	// Disabled is true for a tool of an MCP server that may not be called.
	Disabled bool           `json:"disabled,omitempty"`
	Ledger   []backends.Row `json:"-"`
	// External is what backends of others have made.
	External []ExternalEntry `json:"external,omitempty"`
}

// rows writes a ledger. The Context's own rows, which say the same of every cell, are left
// out. On systems that the tests of this project do not run on, the cases that show a row are its evidence,
// and the machines on which they have passed are named.
// See decision D76.
func rows(l ir.Ledger, known *evidence.Document) []backends.Row {
	if len(l) == 0 {
		return nil
	}
	out := make([]backends.Row, 0, len(l))
	for _, r := range l {
		if r.Platform == 0 {
			continue
		}
		row := backends.NewRow(r)
		if r.Platform == ir.Darwin || r.Platform == ir.Windows {
			row.Evidence = append(row.Evidence, CasesOf(r)...)
			row.Seen = known.Seen(r.Platform, row.Evidence)
		}
		out = append(out, row)
	}
	return out
}

// Hash returns the digest of an artifact as the manifest writes it.
func Hash(data []byte) string {
	return entry.Hash(data)
}

// seal computes the hash over all tools and rulesets.
func (m *Manifest) seal() {
	h := sha256.New()
	for _, e := range m.Tools {
		fmt.Fprintf(h, "%s %s %s\n", e.Name, e.Source, e.Hash)
	}
	for _, r := range m.Rulesets {
		fmt.Fprintf(h, "ruleset %q %s\n", r.Name, r.Hash)
	}
	m.Policy = "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// errManifest is wrapped by every refusal of a manifest.
var errManifest = errors.New("not a usable manifest")

func checkManifest(data []byte) error {
	return backends.CheckHeader(errManifest, data, manifestFormat, manifestVersion)
}

// ErrForeign is wrapped by the refusal of a JSON document that is no manifest, as other programs have under the
// same name.
var ErrForeign = errors.New("not a manifest of accessc")

// ParseManifest reads a manifest: every member must be known, and be there once. Two readers of the same
// text must not see two policies.
func ParseManifest(data []byte) (*Manifest, error) {
	if format, _, _ := strictjson.Header(data); format != manifestFormat && json.Valid(data) {
		return nil, fmt.Errorf("%w: %w: format %q", errManifest, ErrForeign, format)
	}
	if err := checkManifest(data); err != nil {
		return nil, err
	}
	var d Document
	if err := strictjson.Unmarshal(data, &d); err != nil {
		var text json.RawMessage // of which the standard library tells where it ends to be JSON
		return nil, fmt.Errorf("%w: %w", errManifest, cmp.Or(json.Unmarshal(data, &text), err))
	}
	return d.manifest(), nil
}
