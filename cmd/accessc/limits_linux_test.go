package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/ir/irtest"
	"github.com/accessc/accessc/sandbox"
)

// TestLimitsDoNotStarveTheRuntime: the limits of a tool are those of accessc for the
// moment before it becomes the tool. A collection of garbage in that moment was refused
// memory, and the Go runtime ended the process.
func TestLimitsDoNotStarveTheRuntime(t *testing.T) {
	if sandbox.ABI() == 0 {
		t.Skip("needs Landlock")
	}
	accessc, err := exec.LookPath("accessc")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := `[tools.t]
source = "local"
command = "true"
access.limits = { memory = "1GiB", open_files = 17 }
`
	if err := os.WriteFile(filepath.Join(dir, "accessc.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	for range irtest.Times(100) {
		cmd := exec.Command(accessc, "exec", "--accept", "limits.memory", "t")
		cmd.Dir = dir
		// So much garbage that it is collected all the time.
		cmd.Env = append(os.Environ(), "GOGC=1", "XDG_STATE_HOME="+filepath.Join(dir, "state"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%.2000s", err, out)
		}
	}
}
