package claudecode

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ir"
	script "github.com/accessc/accessc/test/agents/model"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/testbuild"
)

// socat takes the place of the program by which the sandbox passes connections on: here none are.
const socat = `#!/usr/bin/env node
const listen = process.argv.slice(2).find(a => a.startsWith("UNIX-LISTEN:"));
if (listen) require("net").createServer(() => {}).listen(listen.slice(12).split(",")[0]);
setInterval(() => {}, 1000);
`

// real is Claude Code itself, with a directory of the programs that a run needs, and its own directory.
type real struct{ program, bin, config string }

func install(t *testing.T) *real {
	t.Helper()
	r := &real{suite.Published(t, "../../..", "@anthropic-ai/claude-code-linux-*/claude"), t.TempDir(), t.TempDir()}
	for _, p := range []string{"node", "bwrap", "rg"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("needs %s", p)
		}
	}
	for name, text := range map[string]string{"socat": socat, "tries": suite.Tries} {
		if err := testbuild.WriteFile(filepath.Join(r.bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// needs are rules that let a tool read the files of the run itself.
func (r *real) needs(tool *ir.Tool, b *ir.Bindings) {
	if b.External == nil {
		b.External = map[string]string{}
	}
	for _, dir := range []string{filepath.Dir(r.program), r.bin, r.config} {
		tool.FS = append(tool.FS, ir.FSRule{
			Written: dir, At: ir.Location{Root: ir.Root{Kind: ir.External, Name: dir}}, External: true, Caps: ir.Caps(ir.Read, ir.Execute),
		})
		b.External[dir] = dir
	}
}

// run has Claude Code make some calls under settings, and returns their results.
func (r *real) run(t *testing.T, data []byte, home, dir string, calls ...script.Turn) []string {
	t.Helper()
	file := filepath.Join(r.bin, "settings.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	m := script.Start(append(calls, script.Say("done"))...)
	defer m.Close()
	ctx := await.Context(t)
	cmd := exec.CommandContext(ctx, r.program, "-p", "go", "--settings", file, "--setting-sources", "")
	cmd.Dir = dir
	cmd.Env = []string{
		"HOME=" + home, "CLAUDE_CONFIG_DIR=" + r.config, "PATH=" + r.bin + ":" + os.Getenv("PATH"), "ANTHROPIC_BASE_URL=" + m.URL, "ANTHROPIC_API_KEY=none",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "SHELL=/bin/bash",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Skipf("Claude Code does not start here: %v: %s", err, out)
	}
	return m.Results()
}

// rounds is how many policies Claude Code is asked about.
func rounds() int {
	if irtest.Full() {
		return 30
	}
	return 2
}

// TestRealFiles: a command that Claude Code itself runs has the access to real files that the policy grants, or
// the access that a row of the ledger states.
func TestRealFiles(t *testing.T) {
	r := install(t)
	w := suite.NewTree(t, t.TempDir())
	seen, ran := map[string]int{}, 0
	for number := 0; ran < rounds(); number++ {
		tool, b := w.Policy(number)
		r.needs(tool, &b)
		c := target.Compile(t, tool, b, false)
		if slices.ContainsFunc(c.Output.Elsewhere, func(row ir.Row) bool { return row.Cites(whyReadOnly) }) {
			continue // no command starts
		}
		words := []string{"sh", filepath.Join(r.bin, "tries")}
		line := ""
		for _, word := range append(words, w.Asked()...) {
			line += shellword.Quote(word) + " "
		}
		results := r.run(t, c.Output.Data, w.Home, w.Dir, script.Call("Bash", map[string]any{"command": line, "description": "x"}))
		if len(results) != 1 || !slices.Contains(strings.Split(results[0], "\n"), "done") {
			t.Fatalf("%q\n%s", results, c.Output.Data)
		}
		ran++
		w.Compare(t, c, strings.Split(results[0], "\n"), seen)
	}
	irtest.Happened(t, seen, "fs true true exact", "fs false false exact")
}

// TestRealTools: the tools of Claude Code itself read and write the files that the policy permits, and none outside.
func TestRealTools(t *testing.T) {
	r := install(t)
	w := suite.NewTree(t, t.TempDir())
	tool, b := ir.NewTool("t"), ir.Bindings{Workspace: w.Dir}
	tool.Home = ir.HomeReal
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.All}, {At: ir.In("a/b"), Caps: ir.Caps(ir.Read)}, {At: ir.In("b")}}
	r.needs(tool, &b)
	c := target.Compile(t, tool, b, false)
	read := func(file string) script.Turn {
		return script.Call("Read", map[string]any{"file_path": filepath.Join(w.Home, file)})
	}
	write := func(file string) script.Turn {
		return script.Call("Write", map[string]any{"file_path": filepath.Join(w.Home, file), "content": "x"})
	}
	results := r.run(t, c.Output.Data, w.Home, w.Dir,
		read("ws/a/f"), read("ws/a/b/f"), read("ws/b/f"), read("x/f"), write("ws/a/new"), write("ws/a/b/new"), write("ws/b/new"), write("x/new"), write("ws/.git/hooks/x"))
	for i, want := range []bool{true, true, false, false} {
		if got := strings.Contains(results[i], "here"); got != want {
			t.Errorf("reading %d is %v: %s", i, got, results[i])
		}
	}
	for file, want := range map[string]bool{"ws/a/new": true, "ws/a/b/new": false, "ws/b/new": false, "x/new": false, "ws/.git/hooks/x": false} {
		if _, err := os.Lstat(filepath.Join(w.Home, file)); (err == nil) != want {
			t.Errorf("%s was written: %v\n%q", file, err == nil, results)
		}
	}
}
