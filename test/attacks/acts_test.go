//go:build linux

package attacks_test

import (
	_ "embed"
	"os/exec"
	"strings"
	"testing"
)

//go:embed testdata/acts.sh
var acts string

// TestActs: everyday acts of git work under the default grant, or are refused and leave HEAD, the index and all
// references as they were. docs/git.md has the exceptions. Cause: acts that record a branch left HEAD where the user
// did not expect it.
func TestActs(t *testing.T) {
	for _, program := range []string{"git", "ssh-keygen", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("there is no " + program)
		}
	}
	var good []string
	for line := range strings.Lines(acts) {
		if words := strings.Fields(line); len(words) > 2 && words[0] == "act" {
			good = append(good, words[1])
		}
	}
	if len(good) < 60 {
		t.Fatalf("only %d acts", len(good))
	}
	run(t, []scene{{
		name: "everyday acts", tool: acts, good: good,
		toml: `access.fs = [{ path = ".", read = true, write = true, execute = true }]`,
		setup: func(p *place) {
			p.write("src/a", "fine")
			p.git("init", "-q", "-b", "main", ".")
			p.git("add", "src/a")
			p.git("-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "-m", "one")
			p.git("init", "-q", "--bare", "src/up")
			p.git("remote", "add", "origin", "src/up")
			p.git("push", "-q", "origin", "main", "main:dev")
			p.git("fetch", "-q")
			p.write(".git/info/exclude", "src/up\naccessc.toml\nbin\nran-hook\n")
			p.write(".git/hooks/pre-commit", "#!/bin/sh\ntouch ran-hook\n")
			p.must(exec.Command("chmod", "755", p.path(".git/hooks/pre-commit")).Run())
			key := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", p.path(".git/key"))
			p.must(p.as(key).Run())
		},
		verdict: func(t *testing.T, _ *place, out string) {
			for line := range strings.Lines(out) {
				if strings.HasPrefix(line, "WRONG") {
					t.Error(out)
				}
			}
		},
	}})
}
