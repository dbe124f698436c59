package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/artifact/signers"
	"github.com/accessc/accessc/internal/enforce/attested"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/review/sides"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/plural"
)

// attestedDoc is an attestation that holds, in the JSON form.
type attestedDoc struct {
	By       []string `json:"by"`
	Accessc  string   `json:"accessc"`
	Serial   int      `json:"serial"`
	Project  string   `json:"project,omitempty"`
	Revision string   `json:"revision,omitempty"`
	// Tested is an attestation of tests; absent where none was asked about.
	Tested *testedDoc `json:"tested,omitempty"`
}

// testedDoc is an attestation of tests that holds.
type testedDoc struct {
	By      []string    `json:"by"`
	Accessc string      `json:"accessc"`
	Time    string      `json:"time"`
	Host    attest.Host `json:"host"`
	Cases   int         `json:"cases"`
}

// attested checks who has signed a manifest whose text has a hash.
func (c *verifyCmd) attested(g *globals, m *build.Manifest, hash string) (*attestedDoc, []build.Problem, error) {
	judge, err := c.judge(g)
	if judge == nil || err != nil {
		return nil, nil, err
	}
	e, err := signers.Envelope(c.attestation())
	if errors.Is(err, attest.ErrForm) {
		return nil, problem(build.AttestationForm, err), nil
	}
	if err != nil {
		return nil, problem(build.AttestationMissing, err), nil
	}
	said, by, err := judge(e)
	if err != nil {
		return nil, problem(build.AttestationSignature, err), nil
	}
	found, err := build.Attested(said, m, hash, filepath.Dir(c.Manifest))
	if err != nil {
		return nil, nil, usagef("%s: %v", c.Manifest, oserr.Reason(err))
	}
	stale, err := c.replayed(g, said.Build)
	if err != nil {
		return nil, nil, err
	}
	tested, untested, err := c.tested(m, said.Build.Project, judge)
	if found = slices.Concat(found, stale, untested); len(found) > 0 || err != nil {
		return nil, found, err
	}
	b := said.Build
	return &attestedDoc{by, b.Accessc, b.Serial, b.Project, b.Revision, tested}, nil, nil
}

// judges checks signatures.
type judges func(*attest.Envelope) (*attest.Statement, []string, error)

// tested checks the attestation of tests, if there is to be one. It must be for the project of the build: its
// signer has said nothing of equal policies of another project.
func (c *verifyCmd) tested(m *build.Manifest, project string, judge judges) (*testedDoc, []build.Problem, error) {
	if c.Summary == "" {
		return nil, nil, nil
	}
	e, err := signers.Summary(c.Summary)
	if err != nil {
		return nil, problem(build.SummaryForm, err), nil
	}
	said, by, err := judge(e)
	if err != nil {
		return nil, problem(build.SummarySignature, err), nil
	}
	found, err := build.Tested(said, m)
	s := said.Summary
	if s.Project != project {
		found = append(found, build.Problem{
			Class: build.SummaryPolicy, Detail: fmt.Sprintf("tried for the project %q, the build is for %q", s.Project, project),
		})
	}
	if err != nil || len(found) > 0 {
		return nil, found, err
	}
	return &testedDoc{by, s.Accessc, s.Time.Format(time.RFC3339), s.Host, len(s.Cases)}, nil, nil
}

func problem(c build.Class, err error) []build.Problem {
	return []build.Problem{{Class: c, Detail: err.Error()}}
}

// attestation is the file of the attestation.
func (c *verifyCmd) attestation() string {
	if c.Attestation != "" {
		return c.Attestation
	}
	return filepath.Join(filepath.Dir(c.Manifest), build.AttestationFile)
}

// judge returns the function that checks signatures, nil where none was asked for.
func (c *verifyCmd) judge(g *globals) (judges, error) {
	switch {
	case c.Signers && len(c.Key) > 0:
		return nil, usagef("--key and --signers are two ways to say who may sign; leave one out")
	case !c.Signers && len(c.Key) == 0:
		if c.Threshold != 0 || c.Attestation != "" || c.Project != "" || c.Revision != "" || c.Summary != "" || c.MinSerial != 0 {
			return nil, usagef("an attestation is checked with --key PUB or --signers; add one")
		}
		return nil, nil
	case c.Signers && c.Threshold != 0:
		return nil, usagef("--threshold goes with --key; the files that --signers asks have their own")
	case c.Signers:
		root, err := g.root()
		if err != nil {
			return nil, err
		}
		root = canonical(root)
		p, err := g.signersOf(root)
		return func(e *attest.Envelope) (*attest.Statement, []string, error) { return attested.Build(p, e, root) }, err
	}
	keys, names, err := c.keys()
	return func(e *attest.Envelope) (*attest.Statement, []string, error) {
		said, accepted, err := e.Verify(max(c.Threshold, 1), keys...)
		var by []string
		for _, k := range accepted {
			by = append(by, names[k.ID()])
		}
		slices.Sort(by)
		return said, by, err
	}, err
}

// keys reads those of --key, and names each by its file.
func (c *verifyCmd) keys() ([]attest.Public, map[string]string, error) {
	var out []attest.Public
	names := map[string]string{}
	for _, file := range c.Key {
		data, err := signers.ReadFile(file, attest.MaxKey)
		if err != nil {
			return nil, nil, usagef("--key %s: %v", file, oserr.Reason(err))
		}
		key, err := attest.ParsePublic(data)
		if err != nil {
			return nil, nil, usagef("--key %s: %v", file, err)
		}
		out, names[key.ID()] = append(out, key), file
	}
	if c.Threshold < 0 || c.Threshold > len(out) {
		return nil, nil, usagef("--threshold %d: expected one from 1 to the number of keys, %d", c.Threshold, len(out))
	}
	return out, names, nil
}

// commitID is a full name of a commit.
var commitID = expression.Once{Text: `^([0-9a-f]{40}|[0-9a-f]{64})$`}

// replayed compares a statement with the project, the serial and the revision that were asked for.
func (c *verifyCmd) replayed(g *globals, b *attest.Build) ([]build.Problem, error) {
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
		root, err := g.root()
		if err != nil {
			return nil, err
		}
		tree, err := sides.Open(root, id)
		if err != nil {
			return nil, usagef("--revision %s: %v", id, err)
		}
		tree.Close()
		id = tree.Commit
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

// sayAttested says on stderr who has signed the build, or that nothing was asked about an attestation.
func (c *verifyCmd) sayAttested(g *globals, d *attestedDoc) {
	if d == nil {
		if _, err := os.Lstat(c.attestation()); err == nil {
			fmt.Fprintf(g.stderr, "%s was not checked; --key PUB and --signers do\n", c.attestation())
		}
		return
	}
	s := fmt.Sprintf("signed by %s, serial %d", strings.Join(d.By, ", "), d.Serial)
	if d.Project != "" {
		s += ", for " + d.Project
	}
	if d.Revision != "" {
		s += ", commit " + d.Revision
	}
	fmt.Fprintln(g.stderr, s)
	if t := d.Tested; t != nil {
		fmt.Fprintf(g.stderr, "%s held by %s %s, Landlock ABI %d, on %s, signed by %s\n",
			plural.Count(t.Cases, "test"), t.Host.System, t.Host.Kernel, t.Host.ABI, t.Time, strings.Join(t.By, ", "))
	}
}
