package build

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// ManifestFile is the name of the manifest in an output directory.
const ManifestFile = "manifest.json"

// ManifestFormat and ManifestVersion identify the document.
const (
	ManifestFormat  = "accessc/manifest"
	ManifestVersion = 1
)

// Manifest is what every tool of a build may do, how each system holds it, and
// which artifacts say so.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"format_version"`
	Form    string `json:"form"`
	// Policy is the hash of all tools' policies together.
	Policy string  `json:"policy_sha256"`
	Tools  []Entry `json:"tools"`
}

// Entry is one tool in the manifest. A tool that accessc does not start has a
// source, its constraints and nothing else.
type Entry struct {
	Name      string            `json:"name"`
	Source    string            `json:"source"`
	Confined  bool              `json:"confined"`
	Risk      string            `json:"risk,omitempty"`
	Hash      string            `json:"policy_sha256,omitempty"`
	Artifacts map[string]string `json:"artifacts,omitempty"`
	// Sensitive are the patterns that some grant reaches.
	Sensitive []string        `json:"sensitive,omitempty"`
	Policy    *irjson.ToolDoc `json:"policy,omitempty"`
	// Constraints are those of a tool that is not confined; a confined one has them in
	// its policy.
	Constraints *irjson.ConstraintsDoc `json:"constraints,omitempty"`
	Ledger      []Row                  `json:"ledger,omitempty"`
}

// Row is a row of the enforcement ledger.
type Row struct {
	Resource string   `json:"resource"`
	Rules    []string `json:"rules"`
	Aspects  []string `json:"aspects"`
	Platform string   `json:"platform"`
	// From and To bound the feature levels: Landlock ABI versions on linux, 0 being
	// a kernel without it; tiers on windows; always 0 on darwin.
	From   int    `json:"from_level"`
	To     int    `json:"to_level"`
	Is     string `json:"is"`
	Why    string `json:"why,omitempty"`
	Accept string `json:"accept,omitempty"`
	// Cases are those that will show whether it is so, on a system where nobody has run
	// the loader yet.
	Cases []string `json:"cases,omitempty"`
}

// rows writes a ledger; the Context's own rows, which say the same of every cell,
// are left out.
func rows(l ir.Ledger) []Row {
	var out []Row
	for _, r := range l {
		if r.Platform == 0 {
			continue
		}
		row := Row{
			Resource: r.Resource.String(), Rules: r.Rules, Platform: r.Platform.String(),
			From: r.Levels.From, To: r.Levels.To, Is: r.Is.String(), Why: r.Why, Accept: r.Accept,
		}
		for _, a := range r.Aspects {
			row.Aspects = append(row.Aspects, string(a))
			if r.Platform.Unrun() {
				row.Cases = append(row.Cases, ir.CaseOf(r.Resource, a))
			}
		}
		out = append(out, row)
	}
	return out
}

// Ledger reads rows that a manifest has. Words that this program does not know are left
// out: nothing is said of such a cell.
func Ledger(rows []Row) ir.Ledger {
	var out ir.Ledger
	for _, r := range rows {
		i := slices.IndexFunc(ir.Resources[:], func(x ir.Resource) bool { return x.String() == r.Resource })
		platform, ok := ir.ParsePlatform(r.Platform)
		is, known := ir.ParseEnforcement(r.Is)
		if i < 0 || !ok || !known {
			continue
		}
		row := ir.Row{
			Resource: ir.Resources[i], Rules: r.Rules, Platform: platform, Levels: ir.Levels{From: r.From, To: r.To},
			Is: is, Why: r.Why, Accept: r.Accept,
		}
		for _, a := range r.Aspects {
			row.Aspects = append(row.Aspects, ir.Aspect(a))
		}
		out = append(out, row)
	}
	return out
}

// Hash returns the digest of an artifact as the manifest writes it.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// seal computes the hash over all tools.
func (m *Manifest) seal() {
	h := sha256.New()
	for _, e := range m.Tools {
		fmt.Fprintf(h, "%s %s %s\n", e.Name, e.Source, e.Hash)
	}
	m.Policy = "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func (m *Manifest) marshal() ([]byte, error) { return backends.JSON(m) }

// ErrManifest is what every refusal of a manifest wraps.
var ErrManifest = errors.New("not a usable manifest")

// ParseManifest reads a manifest.
func ParseManifest(data []byte) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	switch {
	case m.Format != ManifestFormat:
		return nil, fmt.Errorf("%w: format %q is not %q", ErrManifest, m.Format, ManifestFormat)
	case m.Version > ManifestVersion:
		return nil, fmt.Errorf("%w: version %d, written by a newer accessc; this program reads %d", ErrManifest, m.Version, ManifestVersion)
	case m.Version != ManifestVersion:
		return nil, fmt.Errorf("%w: version %d; this program reads %d", ErrManifest, m.Version, ManifestVersion)
	}
	return &m, nil
}
