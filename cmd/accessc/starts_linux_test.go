package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/irtest"
)

// TestFirstStartHasItsHome: the first start makes the private home, and may write to it.
// A ruleset that was filled while the home was being made left it out at times.
func TestFirstStartHasItsHome(t *testing.T) {
	startOften(t, 200, "sh -c 'echo text >$HOME/file'", `access.accept = ["fs.metadata"]`)
}

// TestLimitsDoNotStarveTheRuntime: the limits of a tool are those of accessc for the
// moment before it becomes the tool. A collection of garbage in that moment was refused
// memory, and the Go runtime ended the process. So much garbage is made here that it is
// collected all the time.
func TestLimitsDoNotStarveTheRuntime(t *testing.T) {
	startOften(t, 100, "true", `access.accept = ["limits.memory"]
access.limits = { memory = "1GiB", open_files = 17 }`, "GOGC=1")
}

// startOften starts a tool, each time as if for the first time.
func startOften(t *testing.T, times int, command, access string, env ...string) {
	t.Helper()
	if start.ABI() == 0 {
		t.Skip("needs Landlock")
	}
	t.Parallel()
	accessc, err := exec.LookPath("accessc")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := "[tools.t]\nsource = \"local\"\ncommand = \"" + command + "\"\n" + access + "\n"
	if err := os.WriteFile(filepath.Join(dir, "accessc.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	for range irtest.Times(times) {
		cmd := exec.Command(accessc, "exec", "t")
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(t.TempDir(), "state")), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%.2000s", err, out)
		}
	}
}
