package srt

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/testbuild"
)

// socatScript takes the place of the program by which srt passes connections on: here none are.
const socatScript = `#!/usr/bin/env node
const listen = process.argv.slice(2).find(a => a.startsWith("UNIX-LISTEN:"));
if (listen) require("net").createServer(() => {}).listen(listen.slice(12).split(",")[0]);
setInterval(() => {}, 1000);
`

// srt itself permits every access that the evaluation of its settings permits: asked of the program, about
// real files.
func TestSRTItself(t *testing.T) {
	cli := suite.Published(t, "../../..", "@anthropic-ai/sandbox-runtime/dist/cli.js")
	suite.Needs(t, "node", "bwrap", "rg")
	w := suite.NewWorld(t, Agent.Formats...)
	bin := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(bin, name)
		if err := testbuild.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("socat", socatScript, 0o755)
	script := write("tries", suite.AccessTries, 0o644)
	compared, same := 0, 0
	for seed := range suite.OracleRounds(6, 60) {
		settings := srtFor(rand.New(rand.NewPCG(1, uint64(seed))))
		model := modelOf(w, settings, importer.Existing)
		said, ok := runSRT(t, w, cli, bin, write(fmt.Sprint("s", seed), settings, 0o644), script)
		if !ok {
			t.Skipf("srt does not start here: %s", said)
		}
		c, s := w.Compare(t, settings, model, said)
		compared, same = compared+c, same+s
	}
	fmt.Printf("srt: %d verdicts compared, %d the same, in the others srt permits more\n", compared, same)
}

// srtFor draws settings about the world.
func srtFor(r *rand.Rand) string {
	where := func() string {
		return suite.Pick(r, "a", "a/b", "src", "src/a", "~/x", "~/x/y", "./a/b/k.pem", "link", "link/b", "x y")
	}
	denies := func() string {
		return suite.Pick(r, where(), where(), where(), "**/.env", "a/*", "src/**/k.pem", "**/*.pem")
	}
	list := func(n int, one func() string) string {
		out := suite.Some(r, n, one)
		for i, s := range out {
			out[i] = `"` + s + `"`
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	writes := list(2, where)
	if r.IntN(2) == 0 {
		writes = `["."]`
	}
	return fmt.Sprintf(`{"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": %s, "allowRead": %s, "allowWrite": %s, "denyWrite": %s}}`,
		list(3, denies), list(2, where), writes, list(2, where))
}

// runSRT starts srt, and returns the lines of the script; false where srt does not start at all.
func runSRT(t *testing.T, w *suite.World, cli, bin, settings, script string) ([]string, bool) {
	t.Helper()
	ctx := await.Context(t)
	cmd := exec.CommandContext(ctx, "node", append([]string{cli, "--settings", settings, "sh", script}, w.Asked()...)...)
	cmd.Dir = w.Dir
	cmd.Env = []string{"HOME=" + w.Home, "PATH=" + bin + ":" + os.Getenv("PATH"), "TMPDIR=" + bin}
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || lines[len(lines)-1] != "done" {
		return lines, false
	}
	return lines, true
}
