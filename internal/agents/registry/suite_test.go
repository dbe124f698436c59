package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgentsPassTheSuite: each package that gives a program to the registry holds it to the suite, and the registry has
// each such package.
func TestAgentsPassTheSuite(t *testing.T) {
	source, err := os.ReadFile("registry.go")
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := filepath.Glob("../*/agent.go")
	if err != nil || len(dirs) == 0 {
		t.Fatal(err)
	}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		if name := filepath.Base(dir); !strings.Contains(string(source), "\t&"+name+".Agent,\n") {
			t.Errorf("%s is not in the registry", name)
		}
		test, err := os.ReadFile(filepath.Join(dir, "suite_test.go"))
		if err != nil || !strings.Contains(string(test), "suite.Run(t, &Agent, ") {
			t.Errorf("%s does not run the suite: %v", dir, err)
		}
	}
}
