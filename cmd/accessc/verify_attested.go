package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/enforce/attested"
	"github.com/accessc/accessc/internal/review/sides"
	"github.com/accessc/accessc/internal/text/plural"
)

// attested checks who has signed a manifest whose text has a hash.
func (c *verifyCmd) attested(g *globals, m *build.Manifest, hash string) (*attested.Attested, []build.Problem, error) {
	judge, err := c.judge(g)
	if judge == nil || err != nil {
		return nil, nil, err
	}
	want := attested.Expected{
		Manifest: c.Manifest, Attestation: c.attestation(), Summary: c.Summary, Project: c.Project,
		Revision:  c.Revision,
		MinSerial: c.MinSerial, Judge: judge,
		Commit: func(revision string) (string, error) { return c.commit(g, revision) },
	}
	return want.Check(m, hash)
}

// commit is the full name of a revision's commit.
func (c *verifyCmd) commit(g *globals, revision string) (string, error) {
	root, err := g.root()
	if err != nil {
		return "", err
	}
	tree, err := sides.Open(root, revision)
	if err != nil {
		return "", usagef("--revision %s: %v", revision, err)
	}
	defer tree.Close()
	return tree.Commit, nil
}

// attestation is the file of the attestation.
func (c *verifyCmd) attestation() string {
	if c.Attestation != "" {
		return c.Attestation
	}
	return filepath.Join(filepath.Dir(c.Manifest), build.AttestationFile)
}

// judge returns the function that checks signatures, nil where none was asked for.
func (c *verifyCmd) judge(g *globals) (attested.Judge, error) {
	switch {
	case c.Signers && len(c.Key) > 0:
		return nil, usagef("--key and --signers are two ways to say who may sign; leave one out")
	case !c.Signers && len(c.Key) == 0:
		if c.Threshold != 0 || c.Attestation != "" || c.Project != "" || c.Revision != "" || c.Summary != "" ||
			c.MinSerial != 0 {
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
	return attested.Keys(c.Key, c.Threshold)
}

// sayAttested says on stderr who has signed the build, or that nothing was asked about an attestation.
func (c *verifyCmd) sayAttested(g *globals, d *attested.Attested) {
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
