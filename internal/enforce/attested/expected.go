package attested

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/artifact/signers"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/usage"
)

// Expected says what an attestation of a build has to be like.
type Expected struct {
	// Manifest is the file of the manifest, Attestation that of the attestation, Summary one of tests; empty for none.
	Manifest, Attestation, Summary string
	// Project and Revision, unless empty, are those of the build, MinSerial is its lowest serial.
	Project, Revision string
	MinSerial         int
	Judge             Judge
	// Commit finds the full name of a revision's commit.
	Commit func(revision string) (string, error)
}

// Attested is an attestation that holds, in the JSON form.
type Attested struct {
	By       []string `json:"by"`
	Accessc  string   `json:"accessc"`
	Serial   int      `json:"serial"`
	Project  string   `json:"project,omitempty"`
	Revision string   `json:"revision,omitempty"`
	// Tested is an attestation of tests; absent where none was asked about.
	Tested *Tested `json:"tested,omitempty"`
}

// Tested is an attestation of tests that holds.
type Tested struct {
	By      []string    `json:"by"`
	Accessc string      `json:"accessc"`
	Time    string      `json:"time"`
	Host    attest.Host `json:"host"`
	Cases   int         `json:"cases"`
}

// Check checks who has signed a manifest whose text has a hash.
func (c Expected) Check(m *build.Manifest, hash string) (*Attested, []build.Problem, error) {
	e, err := signers.Envelope(c.Attestation)
	if errors.Is(err, attest.ErrForm) {
		return nil, problem(build.AttestationForm, err), nil
	}
	if err != nil {
		return nil, problem(build.AttestationMissing, err), nil
	}
	said, by, err := c.Judge(e)
	if err != nil {
		return nil, problem(build.AttestationSignature, err), nil
	}
	found, err := build.Attested(said, m, hash, filepath.Dir(c.Manifest))
	if err != nil {
		return nil, nil, usage.Errorf("%s: %v", c.Manifest, oserr.Reason(err))
	}
	stale, err := c.replayed(said.Build)
	if err != nil {
		return nil, nil, err
	}
	tested, untested, err := c.tested(m, said.Build.Project)
	if found = slices.Concat(found, stale, untested); len(found) > 0 || err != nil {
		return nil, found, err
	}
	b := said.Build
	return &Attested{by, b.Accessc, b.Serial, b.Project, b.Revision, tested}, nil, nil
}

// Judge checks signatures.
type Judge func(*attest.Envelope) (*attest.Statement, []string, error)

// tested checks the attestation of tests, if there is to be one. It must be for the project of the build: its
// signer has said nothing of equal policies of another project.
func (c Expected) tested(m *build.Manifest, project string) (*Tested, []build.Problem, error) {
	if c.Summary == "" {
		return nil, nil, nil
	}
	e, err := signers.Summary(c.Summary)
	if err != nil {
		return nil, problem(build.SummaryForm, err), nil
	}
	said, by, err := c.Judge(e)
	if err != nil {
		return nil, problem(build.SummarySignature, err), nil
	}
	found, err := build.Tested(said, m)
	s := said.Summary
	if s.Project != project {
		found = append(found, build.Problem{
			Class:  build.SummaryPolicy,
			Detail: fmt.Sprintf("tried for the project %q, the build is for %q", s.Project, project),
		})
	}
	if err != nil || len(found) > 0 {
		return nil, found, err
	}
	return &Tested{by, s.Accessc, s.Time.Format(time.RFC3339), s.Host, len(s.Cases)}, nil, nil
}

func problem(c build.Class, err error) []build.Problem {
	return []build.Problem{{Class: c, Detail: err.Error()}}
}

// commitID is a full name of a commit.
var commitID = expression.Once{Text: `^([0-9a-f]{40}|[0-9a-f]{64})$`}

// replayed compares a statement with the project, the serial and the revision that were asked for.
func (c Expected) replayed(b *attest.Build) ([]build.Problem, error) {
	var out []build.Problem
	add := func(format string, args ...any) {
		out = append(out, build.Problem{Class: build.AttestationReplay, Detail: fmt.Sprintf(format, args...)})
	}
	if c.Project != "" && b.Project != c.Project {
		add("attested for the project %q, asked for %q", b.Project, c.Project)
	}
	if b.Serial < c.MinSerial {
		add("attested with the serial %d, asked for one from %d", b.Serial, c.MinSerial)
	}
	if c.Revision == "" {
		return out, nil
	}
	id := c.Revision
	if !commitID.Get().MatchString(id) {
		var err error
		if id, err = c.Commit(id); err != nil {
			return nil, err
		}
	}
	if b.Revision != id {
		add("attested for %s, asked for the commit %s", orNone(b.Revision), id)
	}
	return out, nil
}

func orNone(commit string) string {
	if commit == "" {
		return "no commit"
	}
	return "the commit " + commit
}

// PublicKeys reads the keys of --key.
func PublicKeys(files []string) ([]attest.Public, error) {
	var out []attest.Public
	for _, file := range files {
		data, err := signers.ReadFile(file, attest.MaxKey)
		if err != nil {
			return nil, usage.Errorf("--key %s: %v", file, oserr.Reason(err))
		}
		key, err := attest.ParsePublic(data)
		if err != nil {
			return nil, usage.Errorf("--key %s: %v", file, err)
		}
		out = append(out, key)
	}
	return out, nil
}

// Keys checks signatures by public keys, each named by its file, of which so many must have signed.
func Keys(files []string, threshold int) (Judge, error) {
	out, err := PublicKeys(files)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for i, key := range out {
		names[key.ID()] = files[i]
	}
	if threshold < 0 || threshold > len(out) {
		return nil, usage.Errorf("--threshold %d: expected one from 1 to the number of keys, %d", threshold, len(out))
	}
	return func(e *attest.Envelope) (*attest.Statement, []string, error) {
		said, accepted, err := e.Verify(max(threshold, 1), out...)
		var by []string
		for _, k := range accepted {
			by = append(by, names[k.ID()])
		}
		slices.Sort(by)
		return said, by, err
	}, nil
}
