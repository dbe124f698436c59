package attest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// ProvenanceType is the type of provenance, version 1 (https://slsa.dev/spec/v1.1/provenance).
const ProvenanceType = "https://slsa.dev/provenance/v1"

// The constant members of provenance.
const (
	provenanceSource  = "https://github.com/accessc/accessc"
	provenanceBuild   = provenanceSource + "/attestation/release/v1"
	provenanceBuilder = provenanceSource + "/tree/main/release"
)

// Provenance says from which commit the files of a release are made. It has no time and names no machine, so that two
// people who make a release sign the same statement.
type Provenance struct {
	// Version is that of the release, with its v. Commit is the whole id of the commit.
	Version, Commit string
	// Go is the version of the Go toolchain, as runtime.Version has it.
	Go string
}

// provenanceDocument is provenance as it is written.
type provenanceDocument struct {
	Definition struct {
		Type       string            `json:"buildType"`
		Parameters map[string]string `json:"externalParameters"`
		From       []material        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	Run struct {
		Builder struct {
			ID      string            `json:"id"`
			Version map[string]string `json:"version"`
		} `json:"builder"`
	} `json:"runDetails"`
}

type material struct {
	URI    string            `json:"uri"`
	Digest map[string]string `json:"digest"`
}

func (p *Provenance) document() provenanceDocument {
	var d provenanceDocument
	d.Definition.Type, d.Definition.Parameters = provenanceBuild, map[string]string{"version": p.Version}
	d.Definition.From = []material{
		{"git+" + provenanceSource + "@refs/tags/" + p.Version, map[string]string{"gitCommit": p.Commit}},
	}
	d.Run.Builder.ID, d.Run.Builder.Version = provenanceBuilder, map[string]string{"go": p.Go}
	return d
}

func (p *Provenance) unmarshal(data []byte) error {
	var d provenanceDocument
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("the predicate: %w", err)
	}
	if len(d.Definition.From) != 1 {
		return fmt.Errorf("the predicate: found %d sources, expected the repository alone", len(d.Definition.From))
	}
	from := d.Definition.From[0]
	p.Version, p.Commit = d.Definition.Parameters["version"], from.Digest["gitCommit"]
	p.Go = d.Run.Builder.Version["go"]
	want := p.document()
	switch {
	case d.Definition.Type != provenanceBuild || d.Run.Builder.ID != provenanceBuilder:
		return errors.New("the predicate: found the provenance of another builder")
	case from.URI != want.Definition.From[0].URI:
		return fmt.Errorf("the predicate: found the source %.80q, expected the tag %s of accessc", from.URI, p.Version)
	case len(d.Definition.Parameters) != 1 || len(from.Digest) != 1 || len(d.Run.Builder.Version) != 1:
		return errors.New("the predicate: found other members than those of a release")
	case !strings.HasPrefix(p.Version, "v") || len(p.Commit) < 40 || p.Go == "":
		return errors.New("the predicate: found no version, no commit or no toolchain")
	}
	return nil
}
