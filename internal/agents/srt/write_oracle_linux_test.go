package srt

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/testbuild"
)

// socat takes the place of the program by which srt passes connections on: here none are.
const socat = `#!/usr/bin/env node
const listen = process.argv.slice(2).find(a => a.startsWith("UNIX-LISTEN:"));
if (listen) require("net").createServer(() => {}).listen(listen.slice(12).split(",")[0]);
setInterval(() => {}, 1000);
`

// real is srt itself, with a directory of the programs and files that a run needs.
type real struct{ cli, bin string }

func install(t *testing.T) *real {
	t.Helper()
	cli := suite.Published(t, "../../..", "@anthropic-ai/sandbox-runtime/dist/cli.js")
	for _, p := range []string{"node", "bwrap", "rg"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("needs %s", p)
		}
	}
	r := &real{cli, t.TempDir()}
	for name, text := range map[string]string{"socat": socat, "tries": suite.Tries} {
		if err := testbuild.WriteFile(filepath.Join(r.bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// needs are rules that let a tool read the files of the run itself, which lie outside of the base.
func (r *real) needs(tool *ir.Tool, b *ir.Bindings) {
	for _, dir := range []string{filepath.Dir(filepath.Dir(r.cli)), r.bin} {
		at := ir.Root{Kind: ir.External, Name: dir}
		tool.FS = append(tool.FS, ir.FSRule{Written: dir, At: ir.Location{Root: at}, External: true, Caps: ir.Caps(ir.Read, ir.Execute)})
		if b.External == nil {
			b.External = map[string]string{}
		}
		b.External[dir] = dir
	}
}

// run runs a command under settings in a directory, to its end, and returns its output. srt waits for its bridges for a
// time that a busy machine does not always keep.
func (r *real) run(t *testing.T, data []byte, home, dir string, args ...string) string {
	t.Helper()
	for range 5 {
		out, err := r.once(t, data, home, dir, args...)
		if err == nil {
			return out
		}
		if !strings.Contains(out, "bridge sockets") {
			t.Fatalf("srt: %v: %s\n%s", err, out, data)
		}
	}
	t.Skip("srt does not make its bridges: the machine is too busy")
	return ""
}

func (r *real) once(t *testing.T, data []byte, home, dir string, args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(r.bin, "settings.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := await.Context(t)
	cmd := exec.CommandContext(ctx, "node", append([]string{r.cli, "--settings", file}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + home, "PATH=" + r.bin + ":" + os.Getenv("PATH"), "TMPDIR=" + r.bin, "SECRET=1", "TOKEN=2"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// rounds is how many policies srt is asked about: each one takes half a second.
func rounds() int {
	if irtest.Full() {
		return 100
	}
	return 6
}

// TestRealFiles: srt itself, asked about real files, gives a command the access that the policy grants, or
// the access that a row of the ledger states.
func TestRealFiles(t *testing.T) {
	r := install(t)
	w := suite.NewTree(t, t.TempDir())
	seen := map[string]int{}
	for number := range rounds() {
		tool, b := w.Policy(number)
		r.needs(tool, &b)
		c := target.Compile(t, tool, b, false)
		said := r.run(t, c.Output.Data, w.Home, w.Dir, append([]string{"sh", filepath.Join(r.bin, "tries")}, w.Asked()...)...)
		w.Compare(t, c, strings.Split(said, "\n"), seen)
	}
	irtest.Happened(t, seen, "fs true true exact", "fs false false exact")
}

// TestRealLeaks: each row that is weaker is so in fact, and the neighbouring cells hold: programs start without
// a right to, variables are passed on but for those that a rule withholds, names between a place and the workspace
// stay where they are.
func TestRealLeaks(t *testing.T) {
	r := install(t)
	w := suite.NewTree(t, t.TempDir())
	tool, b := ir.NewTool("t"), ir.Bindings{Workspace: w.Dir}
	tool.Home = ir.HomeReal
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.Write.With(ir.Read)}, {At: ir.In("a/b"), Caps: ir.Caps(ir.Read)}, {At: ir.In("b")}}
	tool.Env = append(tool.Env, ir.EnvRule{Name: "SECRET"})
	r.needs(tool, &b)
	c := target.Compile(t, tool, b, false)
	script := filepath.Join(r.bin, "script")
	if err := os.WriteFile(script, []byte(`cp /bin/true g && ./g && echo started
[ "$TOKEN$SECRET" = 2 ] && echo token alone
[ -r /sys/kernel ] && echo sys
mv a c 2>/dev/null || echo a stays
mv a/b a/c 2>/dev/null || echo a/b stays
mv b c 2>/dev/null || echo b stays
[ -e b/f ] || echo b is empty
mkdir .vscode 2>/dev/null && touch .vscode/x || echo no .vscode
ls -d /home /root/* 2>/dev/null | grep -v '^/home$' || echo no home
`), 0o600); err != nil {
		t.Fatal(err)
	}
	said := r.run(t, c.Output.Data, w.Home, w.Dir, "sh", script)
	const want = "started\ntoken alone\nsys\na stays\na/b stays\nb stays\nb is empty\nno .vscode\nno home\n"
	if said != want {
		t.Errorf("got %q, want %q", said, want)
	}
	for _, leak := range []struct {
		of   ir.Resource
		rule ir.RuleID
		a    ir.Aspect
		is   ir.Enforcement
	}{
		{ir.FS, ir.FSRuleID(0), ir.AspectExecute, ir.Weaker}, {ir.Env, ir.DefaultRule, ir.AspectForward, ir.Unenforced}, {ir.FS, ir.DefaultRule, ir.AspectRead, ir.Weaker},
		{ir.FS, ir.FSRuleID(0), ir.AspectMove, ir.Exact}, {ir.FS, ir.FSRuleID(0), ir.AspectCreate, ir.Stricter},
	} {
		if row, ok := c.Output.Elsewhere.Cell(leak.of, leak.rule, leak.a, 0, 0); !ok || row.Is != leak.is {
			t.Errorf("%s %s is %s, want %s", leak.rule, leak.a, row.Is, leak.is)
		}
	}
}
