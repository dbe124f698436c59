package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/denial/recorded"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
	"github.com/accessc/accessc/test/testbuild"
)

// replayPlaces are the names that random rules and operations are about.
var replayPlaces = []string{".", "a", "a/b", "a/b/c", "d", "d/e", ".env", "f", "a/f", "d/f"}

// randomTool is a policy of random rules.
func randomTool(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("[tools.t]\nsource = \"local\"\ncommand = \"sh -c\"\naccess.fs = [\n")
	for i := range 2 + r.IntN(4) {
		at := replayPlaces[r.IntN(len(replayPlaces))]
		if i == 0 {
			at = "."
		}
		fmt.Fprintf(&b, "\t{ path = %q", at)
		for _, c := range []string{"read", "create", "update", "delete", "execute"} {
			if r.IntN(3) > 0 {
				b.WriteString(", " + c + " = true")
			}
		}
		b.WriteString(" },\n")
	}
	return b.String() + "]\n"
}

// randomScript is a shell script of random operations.
func randomScript(r *rand.Rand, n int) string {
	commands := []string{
		"cat %s", "ls %s", "echo x > %s", "echo x >> %s", "rm -rf %s", "mkdir %s", "chmod 700 %s", "mv %s %s", "ln %s %s", "ln -s %s %s", "cp -r %s %s", "sh %s", "mv -T %s %s", "rmdir %s",
		"cat %[1]s/../%[2]s", "touch %s", "truncate -s 0 %s", "cat /etc/passwd %[1]s", "mkfifo %s", "./%s",
	}
	var b strings.Builder
	for range n {
		line := commands[r.IntN(len(commands))]
		place := func() any { return replayPlaces[1+r.IntN(len(replayPlaces)-1)] }
		if strings.Contains(line, "[") || strings.Count(line, "%s") == 2 {
			line = fmt.Sprintf(line+"%.0s%.0s", place(), place())
		} else {
			line = fmt.Sprintf(line, place())
		}
		line, _, _ = strings.Cut(line, "%!")
		// A FIFO has no other end.
		b.WriteString("timeout 5 sh -c '" + line + "' </dev/null >/dev/null 2>&1\n")
	}
	return b.String()
}

// TestReplayKernel: under the policy that a run had, the verdict of a replay on every access is the
// one that the kernel gave.
func TestReplayKernel(t *testing.T) {
	if err := supervisor.Supported(); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	rounds := irtest.Rounds(t, 40)
	for _, seed := range epoch.Seeds(t) {
		replayed(t, rounds, seed)
	}
}

func replayed(t *testing.T, rounds int, seed uint64) {
	t.Logf("seed %d, %d rounds", seed, rounds)
	r := epoch.Source(seed, 0)
	accesses, denied := 0, 0
	for i := range rounds {
		ws, runs, state := t.TempDir(), t.TempDir(), t.TempDir()
		for _, dir := range []string{"a/b", "d"} {
			_ = os.MkdirAll(filepath.Join(ws, dir), 0o755)
		}
		for _, file := range []string{"a/b/c", "d/e", ".env", "f"} {
			_ = testbuild.WriteFile(filepath.Join(ws, file), []byte("#!/bin/sh\ntrue\n"), 0o755)
		}
		policy := randomTool(r)
		if err := os.WriteFile(filepath.Join(ws, "accessc.toml"), []byte(policy), 0o600); err != nil {
			t.Fatal(err)
		}
		run := func(words ...string) string {
			cmd := exec.Command("accessc", words...)
			cmd.Dir, cmd.Env = ws, append(os.Environ(), "XDG_STATE_HOME="+state, "XDG_CONFIG_HOME="+state, "TMPDIR="+state)
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.Output()
			if err != nil && words[0] != "exec" {
				t.Fatalf("%v: %s\n%s", err, said.String(), policy)
			}
			return string(out)
		}
		script := randomScript(r, 25)
		run("exec", "--trace", "--no-summary", "--record", filepath.Join(runs, "r.json"), "t", "--", script)
		// A symlink that the run has made at the path of a rule makes it another policy.
		_ = filepath.WalkDir(ws, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type() == fs.ModeSymlink {
				return os.Remove(path)
			}
			return nil
		})
		var doc explain.ChangesDocument
		if err := json.Unmarshal([]byte(run("explain", "--diff", ws, "--runs", runs, "--format", "json")), &doc); err != nil || len(doc.Replay) != 1 {
			t.Fatalf("round %d: %v\n%s", i, err, policy)
		}
		x := doc.Replay[0]
		if x.Otherwise != 0 || len(x.Refused)+len(x.Permitted) > 0 {
			t.Errorf("round %d: %+v\n%s\n%s", i, x, policy, script)
		}
		accesses += x.Accesses
		all, err := recorded.Load(runs)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all[0].Accesses.Accesses {
			if !a.Allowed {
				denied += a.Times
			}
		}
	}
	t.Logf("%d accesses, %d of them refused", accesses, denied)
	if denied == 0 || accesses < 100*rounds {
		t.Errorf("%d accesses, %d of them refused", accesses, denied)
	}
}
