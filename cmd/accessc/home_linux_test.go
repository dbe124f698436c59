package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/ir/irtest"
	"github.com/accessc/accessc/sandbox"
)

// TestFirstStartHasItsHome: the first start makes the private home, and may write to it.
// A ruleset that was filled while the home was being made left it out at times.
func TestFirstStartHasItsHome(t *testing.T) {
	if sandbox.ABI() == 0 {
		t.Skip("needs Landlock")
	}
	accessc, err := exec.LookPath("accessc")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := "[tools.t]\nsource = \"local\"\ncommand = \"sh -c 'echo text >$HOME/file'\"\naccess.accept = [\"fs.metadata\"]\n"
	if err := os.WriteFile(filepath.Join(dir, "accessc.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	for range irtest.Times(200) {
		cmd := exec.Command(accessc, "exec", "t")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(t.TempDir(), "state"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}
