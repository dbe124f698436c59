package golden_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
)

// TestExample: the artifacts in the examples' directories access are equal to the output of accessc build.
func TestExample(t *testing.T) {
	kubernetes := slices.DeleteFunc(slices.Clone(registry.Optional), func(b backends.Backend) bool {
		return b.Name() != "kubernetes" && b.Name() != "agent-sandbox"
	})
	for dir, bs := range map[string][]backends.Backend{"project": registry.All, "kubernetes": kubernetes} {
		root := "../examples/" + dir
		res, err := hostfacts.Compile(hostfacts.Options{Options: compiler.Options{Root: root}, State: userdir.Dir(filepath.Join(t.TempDir(), "state"))})
		if err != nil || res.Program == nil || len(res.Findings) > 0 {
			t.Fatal(err, res.Findings)
		}
		changes, refused, err := build.Diff(build.Request{Program: res.Program, Backends: bs, Form: backends.Portable}, root+"/access")
		if err != nil || len(refused) > 0 {
			t.Fatal(err, refused)
		}
		for _, c := range changes {
			t.Errorf("%s is not up to date: run task golden", c.Path)
		}
	}
}

// TestOwnPolicies: the policies of this repository's own tools have no findings, their tests
// pass, and each has the command of its task.
func TestOwnPolicies(t *testing.T) {
	res, err := hostfacts.Compile(hostfacts.Options{
		Options: compiler.Options{Root: "..", Layers: source.Request{Shared: true}}, State: userdir.Dir(filepath.Join(t.TempDir(), "state")),
	})
	if err != nil || res.Program == nil || len(res.Findings) > 0 {
		t.Fatal(err, res.Findings)
	}
	data, err := os.ReadFile("../Taskfile.yml")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]string{}
	for _, m := range regexp.MustCompile(`\.ci/confined (\S+) "([^"]+)"`).FindAllStringSubmatch(string(data), -1) {
		used[m[1]] = m[2]
	}
	for _, tool := range res.Program.Tools {
		if got, want := used[tool.Name], strings.Join(append([]string{tool.Command.Program}, tool.Command.Args...), " "); got != want {
			t.Errorf("%s: the tasks run %q, the policy is for %q", tool.Name, got, want)
		}
		delete(used, tool.Name)
	}
	if len(used) > 0 {
		t.Errorf("no policy for %v", used)
	}
}
