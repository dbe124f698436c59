package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/enforce/attested"
	"github.com/accessc/accessc/internal/files/wholefile"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/review/tested"
	"github.com/accessc/accessc/internal/text/oserr"
)

// keys reads those of --sign.
func (c *testCmd) keys(g *globals) ([]attest.Private, error) {
	if len(c.Sign) == 0 {
		if c.Project != "" {
			return nil, usagef("--project is of attestations; add --sign KEY")
		}
		return nil, nil
	}
	if !c.Kernel {
		return nil, usagef("--sign attests which tests the kernel held; add --kernel")
	}
	root, err := g.root()
	if err != nil {
		return nil, err
	}
	keys, findings, err := attested.PrivateKeys(c.Sign, canonical(root))
	if err == nil {
		err = g.sayText(findings, source.Files{}, "no test was tried")
	}
	return keys, err
}

// attest writes which tests the kernel held, also where one failed. Where no kernel was asked there is nothing
// to attest.
func (c *testCmd) attest(g *globals, opts hostfacts.Options, run *tested.Run, keys []attest.Private) error {
	if len(keys) == 0 || run.Missed || len(run.Doc.Tests) == 0 {
		return nil
	}
	data, err := attested.Signing{
		Keys:    keys,
		Project: c.Project,
		Accessc: programVersion(),
	}.Summarize(
		opts,
		c.Accept,
		run.Cases(),
	)
	var mistake usageError
	if errors.As(err, &mistake) {
		return err
	}
	if err == nil {
		err = wholefile.Spare(c.Attestation, data) // it can be made anew
	}
	if err == nil {
		err = os.Chmod(c.Attestation, 0o644)
	}
	if err != nil {
		return usagef("--attestation %s: %v", c.Attestation, oserr.Reason(err))
	}
	fmt.Fprintf(g.stderr, "attested in %s\n", c.Attestation)
	return nil
}
