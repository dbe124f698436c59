package agents_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/irtest"
)

// goKit builds the example agent and client of the protocol's kit for Go. See decision D170.
func goKit(t *testing.T) (agent, client string) {
	t.Helper()
	dir := t.TempDir()
	const kit = "github.com/coder/acp-go-sdk/example/"
	build := exec.Command("go", "build", "-modfile=tools/go.mod", "-o", dir, kit+"agent", kit+"client")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "dial tcp") || strings.Contains(string(out), "module lookup disabled") {
			t.Skipf("needs %s: %s", kit, out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "agent"), filepath.Join(dir, "client")
}

// TestGoKit: the example agent asks to change a file outside of the workspace. Its client is asked
// without accessc, and with a policy that leaves that to it; where a policy refuses, the client is not
// asked, and the agent goes on.
func TestGoKit(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(packages); err != nil && !irtest.Full() {
		t.Skip("runs beside the agents of task npm, or at full count: the agent of the kit waits by itself for seconds")
	}
	agent, client := goKit(t)
	const asked, skipped, changed = "Permission requested", "I'll skip the configuration update", "successfully updated"
	for _, c := range []struct {
		name, stdin string
		words       []string
		has, lacks  []string
	}{
		{"alone", "1\n", nil, []string{asked, changed}, []string{skipped}},
		{"refused", "", []string{"accessc", "acp", "--"}, []string{skipped}, []string{asked, changed}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, map[string]string{"accessc.toml": ""})
			out := p.run(c.stdin, append(append([]string{client}, c.words...), agent)...)
			for _, part := range append(c.has, "Agent completed") {
				p.has(out, part)
			}
			for _, part := range c.lacks {
				if strings.Contains(out, part) {
					t.Errorf("%q is in %s", part, out)
				}
			}
		})
	}
}

// TestGoKitClient: Gemini CLI reads and writes files through the kit's client. The policy answers for
// the client, which would ask its user.
func TestGoKitClient(t *testing.T) {
	t.Parallel()
	program := installed(t, "@google/gemini-cli/bundle/gemini.js")
	_, client := goKit(t)
	p := newPlace(t, map[string]string{
		"src/a": "text of a", "other": "text of other",
		"~/.gemini/settings.json": geminiSettings,
		"accessc.toml": `[tools.coder]
source = "local"
command = "true"
access.fs = [{ path = ".", read = true }, { path = "src", read = true, write = true }]
`,
		"~/model": gemini(
			call("write_file", `{"file_path":"${ws}/src/a","content":"x"}`),
			call("write_file", `{"file_path":"${ws}/other","content":"x"}`),
		),
	})
	p.env = append(p.env, "GEMINI_API_KEY=none")
	out := p.run("", client, "accessc", "acp", "--tool", "coder", "--log", p.file("~/log"), "--",
		"node", program, "--acp", "--fake-responses-non-strict", p.file("~/model"))
	p.has(out, "Wrote 1 bytes to "+p.file("src/a"))
	p.has(p.read("~/log"), "update other: rule .")
	if got := p.read("src/a") + p.read("other"); got != "xtext of other" {
		t.Errorf("the files have %q", got)
	}
}
