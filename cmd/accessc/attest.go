package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/artifact/signers"
	"github.com/accessc/accessc/internal/enforce/attested"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/ir"
)

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
		req.Attest = s.Attest
	}
	return err
}

// sign reads the keys of --sign, and finds the revision whose configuration the build is of.
func (c *buildCmd) sign(g *globals, res *hostfacts.Result) (*attested.Signing, error) {
	keys, findings, err := attested.PrivateKeys(c.Sign, res.Resolver.Root)
	if err == nil {
		err = g.report(c.Format, findings, res.Files, "nothing was written")
	}
	s := &attested.Signing{Keys: keys, Project: c.Project, Serial: c.Serial, Accessc: programVersion()}
	if err != nil || c.Resolve || c.Local {
		return s, err // no revision has these layers
	}
	s.Revision, err = reader(g).Head(res)
	return s, err
}

// signersOf reads who may sign. Findings stop the start.
func (g *globals) signersOf(root string) (signers.Policy, error) {
	p, texts, findings := attested.Signers(root)
	return p, g.sayText(findings, texts, "nothing is started")
}

// attestation holds a configured start to its attestation, if there has to be one.
func (c *execCmd) attestation(
	g *globals,
	opts hostfacts.Options,
	res *hostfacts.Result,
	t *ir.Tool,
	artifact []byte,
) error {
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
	s := attested.Start{
		Options:  opts,
		Result:   res,
		Tool:     t,
		Artifact: artifact,
		Portable: c.Means == meansBubblewrap,
		File:     c.Attestation,
	}
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
		return usagef("%s requires an attestation of %s; only accessc exec, serve and package sandbox start tools "+
			"by one",
			by, t.Name)
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

// attestedArtifact is direct.Artifact's.
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
