package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/artifact/signers"
	"github.com/accessc/accessc/internal/enforce/attested"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/ir"
)

// signing is how a build is attested.
type signing struct {
	keys []attest.Private
	// project, serial and revision are those of the statement; serial is 0 for one by the clock.
	project  string
	serial   int
	revision string
}

// attest has the build signed, if there are keys.
func (c *buildCmd) attest(g *globals, res *hostfacts.Result, req *build.Request) error {
	switch {
	case len(c.Sign) == 0 && (c.Project != "" || c.Serial != 0):
		return usagef("--project and --serial are of attestations; add --sign KEY")
	case len(c.Sign) == 0:
		return nil
	case c.Check || len(c.Tools) > 0:
		return usagef("--sign is for a build of all tools; leave --check and the names of tools out")
	case c.Serial < 0:
		return usagef("--serial %d: expected one from 1", c.Serial)
	}
	s, err := c.sign(g, res)
	if err == nil {
		req.Attest = s.attest
	}
	return err
}

// sign reads the keys of --sign, and finds the revision whose configuration the build is of.
func (c *buildCmd) sign(g *globals, res *hostfacts.Result) (*signing, error) {
	keys, findings, err := privateKeys(c.Sign, res.Resolver.Root)
	if err == nil {
		err = g.report(c.Format, findings, res.Files, "nothing was written")
	}
	s := &signing{keys: keys, project: c.Project, serial: c.Serial}
	if err != nil || c.Resolve || c.Local {
		return s, err // no revision has these layers
	}
	s.revision, err = g.sides().Head(res)
	return s, err
}

// attest is build.Request's. A statement that says the same already keeps its serial and its signatures,
// so that several can sign one build, and a build that is up to date is left alone.
func (s *signing) attest(said *attest.Statement, old []byte) ([]byte, error) {
	b := said.Build
	b.Accessc, b.Project, b.Revision, b.Serial = version, s.project, s.revision, s.serial
	if before, err := attest.Read(old); err == nil {
		again := *said.Build
		if s.serial == 0 {
			again.Serial = before.Serial()
		}
		if data, same, err := before.Cosign(&attest.Statement{Subjects: said.Subjects, Build: &again}, s.keys...); same || err != nil {
			return data, err
		}
	}
	if b.Serial == 0 {
		b.Serial = int(time.Now().Unix())
	}
	return attest.Sign(said, s.keys...)
}

// privateKeys reads the keys of --sign, which this user alone can read. Findings are about those that lie where the
// tools of this workspace or another could read them.
func privateKeys(files []string, root string) ([]attest.Private, diag.List, error) {
	var out []attest.Private
	for _, file := range files {
		var key attest.Private
		data, err := signers.ReadSecret(file)
		if err == nil {
			key, err = attest.ParsePrivate(data)
		}
		if err != nil {
			return nil, nil, usagef("--sign %s: %v; nothing was written", file, oserr.Reason(err))
		}
		out = append(out, key)
	}
	root = filepath.FromSlash(root)
	return out, signers.Misplaced(files, root, func(file string) string { return start.Exposed(file, root) }), nil
}

// signersOf reads who may sign. Findings stop the start.
func (g *globals) signersOf(root string) (signers.Policy, error) {
	p, texts, findings := attested.Signers(root)
	return p, g.sayText(findings, texts, "nothing is started")
}

// attestation holds a configured start to its attestation, if there has to be one.
func (c *execCmd) attestation(g *globals, opts hostfacts.Options, res *hostfacts.Result, t *ir.Tool, artifact []byte) error {
	root := filepath.FromSlash(res.Resolver.Root)
	p, err := g.signersOf(root)
	if err != nil {
		return err
	}
	by := attested.Required(p, root, t.Name)
	if by == "" && !c.RequireAttestation {
		return nil
	}
	if c.Command {
		return usagef("an attestation is required%s, and none is about a command that the caller chooses", byFile(by))
	}
	s := attested.Start{Options: opts, Result: res, Tool: t, Artifact: artifact, Portable: c.Means == meansBubblewrap, File: c.Attestation}
	if err := s.Check(p); err != nil {
		return &start.Error{Code: start.CodeFailed, Err: fmt.Errorf("%w%s", err, byFile(by))}
	}
	return nil
}

// unattested refuses a start that is not compared with an attestation, if there has to be one.
func (g *globals) unattested(res *hostfacts.Result, t *ir.Tool) error {
	root := filepath.FromSlash(res.Resolver.Root)
	p, err := g.signersOf(root)
	if err != nil {
		return err
	}
	if by := attested.Required(p, root, t.Name); by != "" {
		return usagef("%s requires an attestation of %s; only accessc exec, serve and package sandbox start tools by one", by, t.Name)
	}
	return nil
}

// byFile names the file that requires an attestation, if the call does not.
func byFile(name string) string {
	if name == "" {
		return ""
	}
	return " (required by " + name + ")"
}

// attestedArtifact is early.Artifact's.
func (c *execCmd) attestedArtifact(g *globals) func(root, tool, hash string) error {
	return func(root, tool, hash string) error {
		p, err := g.signersOf(root)
		if err != nil {
			return errors.New("a file that says who may sign has a mistake")
		}
		by := attested.Required(p, root, tool)
		if here, err := g.findRoot(); by == "" && err == nil {
			by = attested.Required(p, canonical(here), tool)
		}
		if by == "" && !c.RequireAttestation {
			return nil
		}
		file := c.Attestation
		if file == "" {
			file = filepath.Join(filepath.Dir(filepath.Dir(c.Artifact)), build.AttestationFile)
		}
		if err := attested.Artifact(p, file, root, tool, hash); err != nil {
			return fmt.Errorf("%w%s", err, byFile(by))
		}
		return nil
	}
}
