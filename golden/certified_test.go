package golden_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/golden"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// TestCertified: every policy of policy/, of the examples and of this repository is certified, and the checker accepts
// the certificate.
func TestCertified(t *testing.T) {
	policies, _ := filepath.Glob("policy/*.txtar")
	for _, path := range policies {
		t.Run(filepath.Base(path), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if p := golden.Lay(t, a).Run(t).Result.Program; p != nil {
				certified(t, p)
			}
		})
	}
	examples, _ := filepath.Glob("../examples/*/accessc.toml")
	for _, path := range append(examples, "../accessc.toml") {
		t.Run(path, func(t *testing.T) {
			res, err := hostfacts.Compile(hostfacts.Options{
				Options: compiler.Options{Root: filepath.Dir(path)},
				State:   userdir.Dir(filepath.Join(t.TempDir(), "state")),
			})
			if err != nil || res.Program == nil {
				t.Fatal(err, res)
			}
			certified(t, res.Program)
		})
	}
	if len(policies) < 30 || len(examples) < 2 {
		t.Errorf("%d policies and %d examples", len(policies), len(examples))
	}
}

func certified(t *testing.T, p *ir.Program) {
	t.Helper()
	dir := t.TempDir()
	req := build.Request{Program: p, Backends: registry.All, Form: backends.Portable, Certify: true}
	_, findings, err := build.Write(req, dir)
	if err != nil || findings.Failed() {
		t.Fatal(err, findings)
	}
	report, problems, err := build.Certified(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p.Detail)
	}
	names, err := os.ReadDir(dir)
	if err != nil || report.Tools > 0 && (report.Texts < report.Tools || len(names) < 3) {
		t.Errorf("%d texts of %d tools in %v, %v", report.Texts, report.Tools, names, err)
	}
}
