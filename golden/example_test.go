package golden_test

import (
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/artifact"
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/state"
)

// TestExample: the artifacts in example/access are what accessc build writes.
func TestExample(t *testing.T) {
	res, err := compiler.Compile(compiler.Options{Root: "../example", State: state.Dir(filepath.Join(t.TempDir(), "state"))})
	if err != nil || res.Program == nil || len(res.Findings) > 0 {
		t.Fatal(err, res.Findings)
	}
	tree, refused, err := artifact.Build(artifact.Request{Program: res.Program, Backends: registry.All, Form: backends.Portable})
	if err != nil || len(refused) > 0 {
		t.Fatal(err, refused)
	}
	changes, err := tree.Diff("../example/access")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		t.Errorf("%s is not up to date: run accessc build -C example", c.Path)
	}
}
