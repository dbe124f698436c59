// Package checked finds all mistakes of a configuration, for the command check and for editors, which show the same.
package checked

import (
	"maps"
	"path/filepath"

	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/enforce/attested"
	"github.com/accessc/accessc/internal/host/hostfacts"
)

// Compile compiles a configuration and returns every finding: of the compiler, of this host, of the targets and about
// who may sign. The error is no mistake of the configuration.
func Compile(opts hostfacts.Options) (*hostfacts.Result, diag.List, error) {
	opts.Sensitive, opts.Places = true, true
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, nil, err
	}
	findings := res.Findings
	if res.Program != nil {
		refused, err := build.Refusals(res.Program, registry.All)
		if err != nil {
			return nil, nil, err
		}
		findings = append(findings, refused...)
	}
	_, texts, signers := attested.Signers(filepath.FromSlash(res.Resolver.Root))
	maps.Copy(res.Files, texts)
	return res, append(findings, signers...), nil
}
