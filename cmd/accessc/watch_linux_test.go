package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckWatches: each change of a layer, of one that is new, and of one that a pattern finds, is a check; an interrupt
// ends with the status of the last.
func TestCheckWatches(t *testing.T) {
	dir := t.TempDir()
	ws := filepath.Join(dir, "ws")
	for _, k := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(k, filepath.Join(dir, k))
	}
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(ws, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		// As editors do, and in one step.
		next := filepath.Join(dir, "next")
		if err := os.WriteFile(next, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, file); err != nil {
			t.Fatal(err)
		}
	}
	write("accessc.toml", "extends = ['more/*.toml']\n[tools.t]\nsource = 'local'\n")
	write("more/a.toml", "")
	cmd := accesscCommand(t, "check", "--watch", "-C", ws)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	expect := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("no line has %q: %v", want, cmd.Wait())
	}
	expect("1 tool: no findings")
	write("more/b.toml", "[tools.u]\nsource = 'local'\n")
	expect("changed: " + filepath.Join(ws, "more"))
	expect("2 tools: no findings")
	write(".accessc/local.toml", "[tools.v]\nsource = 'local'\n")
	expect("changed: " + filepath.Join(ws, ".accessc", "local.toml"))
	expect("3 tools: no findings")
	write("more/b.toml", "[tools.")
	expect("1 error in 1 file")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitFindings {
		t.Errorf("ended with %v", err)
	}
}
