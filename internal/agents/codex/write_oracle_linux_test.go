package codex

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// real is Codex itself, with its directory of settings.
type real struct{ program, home, scripts string }

func install(t *testing.T) *real {
	t.Helper()
	program := suite.Published(t, "../../..", "@openai/codex-linux-*/vendor/*/bin/codex")
	// Codex makes no programs of its own below a temporary directory.
	cache, err := filepath.Abs("../../../.cache")
	if err != nil {
		t.Fatal(err)
	}
	if rel, err := filepath.Rel(os.TempDir(), cache); err == nil && filepath.IsLocal(rel) {
		t.Skip("Codex starts no sandbox from a clone in the temporary directory")
	}
	home, err := os.MkdirTemp(cache, "codex-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	return &real{program, home, t.TempDir()}
}

// needs are rules that let a tool read the files of the run itself.
func (r *real) needs(tool *ir.Tool, b *ir.Bindings) {
	if b.External == nil {
		b.External = map[string]string{}
	}
	for _, dir := range []string{filepath.Dir(filepath.Dir(r.program)), r.home, r.scripts} {
		tool.FS = append(tool.FS, ir.FSRule{
			Written: dir, At: ir.Location{Root: ir.Root{Kind: ir.External, Name: dir}}, External: true, Caps: ir.Caps(ir.Read, ir.Execute),
		})
		b.External[dir] = dir
	}
}

// run runs a script under settings in a directory, and returns its output.
func (r *real) run(t *testing.T, data []byte, home, dir, text string, args ...string) (string, error) {
	t.Helper()
	script := filepath.Join(r.scripts, "script")
	for file, data := range map[string][]byte{script: []byte(text), filepath.Join(r.home, "config.toml"): data} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(r.program, append([]string{"sandbox", "-P", profile, "sh", script}, args...)...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "CODEX_HOME=" + r.home, "PATH=" + os.Getenv("PATH"), "TOKEN=2", "term=1"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// rounds is how many policies Codex is asked about.
func rounds() int {
	if irtest.Full() {
		return 300
	}
	return 20
}

// TestRealFiles: Codex itself, asked about real files, lets a command do the operations that the policy permits, or
// those that a row of the ledger states. It refuses to start under some profiles, such as those that open a single file
// for writing.
func TestRealFiles(t *testing.T) {
	r := install(t)
	w := suite.NewTree(t, t.TempDir())
	seen, started, last := map[string]int{}, 0, ""
	for number := range rounds() {
		tool, b := w.Policy(number)
		r.needs(tool, &b)
		c := target.Compile(t, tool, b, false)
		said, err := r.run(t, c.Output.Data, w.Home, w.Dir, suite.Tries, w.Asked()...)
		if err != nil || !strings.HasSuffix(said, "done\n") {
			last = said
			continue
		}
		started++
		w.Compare(t, c, strings.Split(said, "\n"), seen)
	}
	if started == 0 {
		t.Skipf("codex sandbox does not start here: %s", last)
	}
	t.Logf("started %d of %d: %v", started, rounds(), seen)
	irtest.Happened(t, seen, "fs true true exact", "fs false false exact")
}

// TestRealLeaks: rows that are weaker are so in fact, and the neighbouring cells hold: a variable in another case, and a name
// between a place and the workspace, which can be moved.
func TestRealLeaks(t *testing.T) {
	r := install(t)
	w := suite.NewTree(t, t.TempDir())
	tool, b := ir.NewTool("t"), ir.Bindings{Workspace: w.Dir}
	tool.Home = ir.HomeReal
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.Write.With(ir.Read)}, {At: ir.In("a/b"), Caps: ir.Caps(ir.Read)}, {At: ir.In("b")}}
	r.needs(tool, &b)
	c := target.Compile(t, tool, b, false)
	said, err := r.run(t, c.Output.Data, w.Home, w.Dir, `cp /bin/true g && ./g && echo started
[ "$TOKEN$term" = 1 ] && echo term
mv a/b a/c 2>/dev/null || echo a/b stays
mv a c && echo a goes
mv b c 2>/dev/null || echo b stays
[ -e b/f ] || echo b is closed
[ -e /etc/passwd ] || echo no users
mkdir .git 2>/dev/null && touch .git/x 2>/dev/null || echo no .git
`)
	if err != nil && strings.HasPrefix(said, "bwrap: ") {
		t.Skipf("codex sandbox does not start here: %s", said)
	}
	const want = "started\nterm\na/b stays\na goes\nb stays\nb is closed\nno users\nno .git\n"
	if said != want {
		t.Errorf("got %q, want %q\n%s", said, want, c.Output.Data)
	}
	for _, leak := range []struct {
		of   ir.Resource
		rule ir.RuleID
		a    ir.Aspect
		is   ir.Enforcement
	}{
		{ir.FS, ir.FSRuleID(0), ir.AspectExecute, ir.Weaker}, {ir.Env, ir.DefaultRule, ir.AspectForward, ir.Weaker}, {ir.FS, ir.BaseRule, ir.AspectRead, ir.Stricter},
		{ir.FS, ir.FSRuleID(0), ir.AspectMove, ir.Weaker}, {ir.FS, ir.FSRuleID(0), ir.AspectCreate, ir.Stricter},
	} {
		if row, ok := c.Output.Elsewhere.Cell(leak.of, leak.rule, leak.a, 0, 0); !ok || row.Is != leak.is {
			t.Errorf("%s %s is %s, want %s", leak.rule, leak.a, row.Is, leak.is)
		}
	}
}
