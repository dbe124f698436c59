package compiler_test

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// emptyEnvironment takes every variable away for the time of a test.
func emptyEnvironment(t *testing.T) {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if name == "" {
			continue // a directory of a Windows drive
		}
		t.Setenv(name, "") // restores the value afterwards
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWithoutHome: approvals are the caller's. Compiling needs no home directory, no state and
// no environment, and looks for none.
func TestWithoutHome(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	emptyEnvironment(t)
	root, fork, other := filepath.Join(dir, "ws"), filepath.Join(dir, "fork"), filepath.Join(dir, "other")
	for _, d := range []string{root, fork, other} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(fork, filepath.Join(root, "fork")); err != nil {
		t.Fatal(err)
	}
	layer := "[tools.t]\nsource = \"local\"\naccess.fs = [{ path = \"fork\", external = true, read = true }]\n"
	if err := os.WriteFile(filepath.Join(root, "accessc.toml"), []byte(layer), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		approved func(rulePath, target string) (bool, string)
		rules    int
		want     []diag.Code
		binding  compiler.Binding
	}{
		{"portable", nil, 1, nil, compiler.Binding{}},
		{"approved", func(r, target string) (bool, string) { return r == "fork" && target == fork, "" }, 1, nil,
			compiler.Binding{RulePath: "fork", Target: fork, Approved: true}},
		{"unknown", func(string, string) (bool, string) { return false, "" }, 0, []diag.Code{diag.NotApproved},
			compiler.Binding{RulePath: "fork", Target: fork}},
		{"retargeted", func(string, string) (bool, string) { return false, other }, 0, []diag.Code{diag.Retargeted},
			compiler.Binding{RulePath: "fork", Target: fork, Was: other}},
	} {
		res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: root, Approved: c.approved})
		if err != nil || res.Program == nil {
			t.Fatalf("%s: %v %v", c.name, err, res)
		}
		var codes []diag.Code
		for _, f := range res.Findings {
			codes = append(codes, f.Code)
		}
		var binding compiler.Binding
		if len(res.Bindings) > 0 {
			binding = res.Bindings[0]
			binding.Grants = nil
		}
		rules := len(res.Program.Tools[0].FS)
		if diff := cmp.Diff(c.want, codes); diff != "" || rules != c.rules || !reflect.DeepEqual(binding, c.binding) {
			t.Errorf("%s: %d rules, binding %+v, findings: %s", c.name, rules, binding, diff)
		}
	}
}

// TestReport: an error that a caller reports has the effect of one of the compiler's own.
func TestReport(t *testing.T) {
	workspace := fstest.MapFS{"accessc.toml": {Data: []byte("[tools.a]\nsource = \"local\"\n[tools.b]\nsource = \"local\"\n")}}
	about := func(tool string) diag.Diagnostic {
		d := diag.New(diag.TestFailed, ir.Pos{File: "accessc.toml", Line: 1}, 0)
		d.Path = tool
		return d
	}
	for _, c := range []struct {
		apart bool
		path  string
		want  int
	}{{true, "tools.a.access.tests", 1}, {false, "tools.a.access.tests", -1}, {true, "", -1}} {
		res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: ".", Tree: workspace, Apart: c.apart})
		if err != nil || len(res.Program.Tools) != 2 {
			t.Fatal(err, res.Findings)
		}
		res.Report(about(c.path))
		got := -1
		if res.Program != nil {
			got = len(res.Program.Tools)
		}
		if got != c.want || res.Wrong("b") {
			t.Errorf("apart %v, an error in %q: found %d tools, expected %d", c.apart, c.path, got, c.want)
		}
	}
}
