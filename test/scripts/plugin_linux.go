package scripts

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// buildExample builds the example of a backend of others, a module of its own: example FILE.
func buildExample(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: example FILE")
	}
	cmd := exec.Command("go", "build", "-o", ts.MkAbs(args[0]), ".")
	cmd.Dir = filepath.Join(ts.Getenv("EXAMPLES"), "backend")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("%v: %s", err, out)
	}
}
