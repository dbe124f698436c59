package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
)

// judge asks the policy engine of Gemini CLI about calls under files of policies, and counts the rules that it has taken.
const judge = `
import fs from "node:fs";
const dir = process.argv[2];
const file = fs.readdirSync(dir).find(f => f.startsWith("chunk-") && / createPolicyEngineConfig,/.test(fs.readFileSync(dir + "/" + f, "utf8")));
const { PolicyEngine, createPolicyEngineConfig } = await import(dir + "/" + file);
const out = [];
for (const c of JSON.parse(fs.readFileSync(process.argv[3], "utf8"))) {
	const config = await createPolicyEngineConfig({ policyPaths: [c.file] }, c.mode);
	const engine = new PolicyEngine({ ...config, approvalMode: c.mode });
	const decisions = [];
	for (const { tool, args } of c.calls) decisions.push((await engine.check({ name: tool, args })).decision);
	out.push({ rules: config.rules.filter(r => r.source?.endsWith(c.file.split("/").pop())).length, decisions });
}
fs.writeFileSync(process.argv[4], JSON.stringify(out));
process.exit(0);
`

// question is a file with calls, as judge reads them, and answer the reply of it.
type (
	question struct {
		File  string `json:"file"`
		Mode  string `json:"mode"`
		Calls []call `json:"calls"`
	}
	call struct {
		Tool string            `json:"tool"`
		Args map[string]string `json:"args"`
	}
	answer struct {
		Rules     int      `json:"rules"`
		Decisions []string `json:"decisions"`
	}
)

// drawn is a tool for questions about calls.
func drawn(number int) (*ir.Tool, ir.Bindings) {
	var b ir.Bindings
	tool := rapid.Custom(func(rt *rapid.T) *ir.Tool {
		tool := suite.Draw(rt)
		b = suite.Hosts(rt, tool)
		if rapid.Bool().Draw(rt, "lists programs") {
			tool.Commands = suite.Commands(rt, []string{"make", "git", "ls"}, []string{"a", "-x", "--k=v"})
		}
		return tool
	}).Example(number)
	return tool, b
}

// calls are those about a tool: files in all spellings, commands, and others.
func calls(e evaluated, tool *ir.Tool) []call {
	out := []call{
		{"web_fetch", map[string]string{"prompt": "https://a.example"}}, {"glob", map[string]string{"pattern": "**"}}, {"mcp_s_t", nil}, {"write_todos", nil},
		{"run_shell_command", map[string]string{"command": "make a -x"}}, {"run_shell_command", map[string]string{"command": "git"}},
		{"run_shell_command", map[string]string{"command": "ls -x && cat /etc/shadow"}}, {"run_shell_command", map[string]string{"command": "cat x"}},
	}
	for _, r := range tool.FS {
		for _, text := range e.spellings(strings.TrimSuffix(e.dir+"/"+r.At.Path, "/")) {
			out = append(out,
				call{"read_file", map[string]string{"file_path": text}}, call{"list_directory", map[string]string{"dir_path": text}},
				call{"write_file", map[string]string{"file_path": text + "/x", "content": `","file_path":"a"`}}, call{"replace", map[string]string{"file_path": text}})
		}
	}
	return out
}

// TestRealDecisions: Gemini CLI's policy engine takes every rule, and decides about calls as their evaluation does; a command of several
// parts it judges part by part.
func TestRealDecisions(t *testing.T) {
	bundle := filepath.Dir(suite.Published(t, "../../..", "@google/gemini-cli/bundle/gemini.js"))
	dir := t.TempDir()
	var questions []question
	var models []evaluated
	for number := range rounds(40, 400) {
		tool, b := drawn(number)
		c := target.Compile(t, tool, b, number%3 == 0)
		q := question{File: filepath.Join(dir, fmt.Sprintf("p%d.toml", number)), Mode: []string{"default", "yolo", "autoEdit"}[number%3]}
		e := c.Model.(evaluated)
		q.Calls = calls(e, tool)
		if err := os.WriteFile(q.File, c.Output.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		questions, models = append(questions, q), append(models, e)
	}
	seen := map[string]int{}
	for i, a := range ask(t, bundle, dir, questions) {
		rules := 0
		for _, r := range models[i].Rule {
			rules += len(r.ToolName)
		}
		if a.Rules != rules {
			t.Fatalf("%d of %d rules are taken", a.Rules, rules)
		}
		for j, got := range a.Decisions {
			c := questions[i].Calls[j]
			want := models[i].decide(c.Tool, c.Args)
			several := strings.Contains(c.Args["command"], "&&") && want == "ask_user" && got == "deny"
			if seen[got]++; got != want && !several {
				text, _ := os.ReadFile(questions[i].File)
				t.Fatalf("%+v in the mode %s: %s, the evaluation says %s\n%s", c, questions[i].Mode, got, want, text)
			}
		}
	}
	t.Log(seen)
	irtest.Happened(t, seen, "allow", "deny", "ask_user")
}

// ask runs the policy engine once about all questions.
func ask(t *testing.T, bundle, dir string, questions []question) []answer {
	t.Helper()
	text, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	script, asked := filepath.Join(dir, "judge.mjs"), filepath.Join(dir, "questions.json")
	for file, text := range map[string][]byte{script: []byte(judge), asked: text} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answers := filepath.Join(dir, "answers.json")
	_, ran := node(t, dir, dir, script, bundle, asked, answers)
	text, err = os.ReadFile(answers)
	var out []answer
	if err = errors.Join(ran, err); err != nil || json.Unmarshal(text, &out) != nil || len(out) != len(questions) {
		t.Fatalf("%v: %d answers to %d questions", err, len(out), len(questions))
	}
	return out
}

// node runs a program of node in a directory, with a home.
func node(t *testing.T, home, dir string, args ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node")
	}
	ctx := await.Context(t)
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GEMINI_API_KEY=none"}
	out, err := cmd.Output()
	return string(out), err
}

func rounds(few, many int) int {
	if irtest.Full() {
		return many
	}
	return few
}

// TestRealFiles: the tools of Gemini CLI itself, whose model is a file of answers and which takes every action for approved, have the access to
// real files that the policy grants, or the access that a row of the ledger states.
func TestRealFiles(t *testing.T) {
	program := suite.Published(t, "../../..", "@google/gemini-cli/bundle/gemini.js")
	r := &real{program, t.TempDir()}
	w := suite.NewTree(t, t.TempDir())
	seen := map[string]int{}
	for number := range rounds(2, 20) {
		tool, b := w.Policy(number)
		if number%2 == 0 {
			tool.FS = append([]ir.FSRule{{At: ir.In(""), Caps: ir.All}}, tool.FS...)
		}
		c := target.Compile(t, tool, b, false)
		calls, reading := accesses(t, w)
		var could []string
		for i, ok := range r.run(t, w.Dir, c.Output.Data, calls)[:len(reading)] {
			if ok {
				could = append(could, "r "+reading[i])
			}
		}
		w.Compare(t, c, could, seen)
	}
	t.Log(seen)
	irtest.Happened(t, seen, "fs true true stricter", "fs false false weaker")
}

// TestRealLeaks: a symbolic link leads past the rules, which the ledger assumes is not there; a granted .env stays closed; and no other name of a
// denied place opens it, nor does a command.
func TestRealLeaks(t *testing.T) {
	program := suite.Published(t, "../../..", "@google/gemini-cli/bundle/gemini.js")
	r, w := &real{program, t.TempDir()}, suite.NewTree(t, t.TempDir())
	if err := os.Symlink("b", filepath.Join(w.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Dir, ".env"), []byte("here"), 0o600); err != nil {
		t.Fatal(err)
	}
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.All}, {At: ir.In("b")}}
	c := target.Compile(t, tool, ir.Bindings{Workspace: w.Dir}, false)
	var calls []string
	var want []bool
	for _, x := range []struct {
		path string
		open bool
	}{
		{"a/f", true}, {w.Dir + "/a/f", true}, {"link/f", true}, {".env", false}, {"b/f", false}, {"%62/f", false}, {"@b/f", false}, {"@/b/f", false}, {"./b/f", false},
		{"a/../b/f", false}, {w.Dir + "/b/f", false}, {w.Dir + "/%62/f", false}, {"b\x00/f", false}, {w.Home + "/x/f", false},
	} {
		calls, want = append(calls, function(t, "read_file", map[string]string{"file_path": x.path})), append(want, x.open)
	}
	calls = append(calls, function(t, "run_shell_command", map[string]string{"command": "cat b/f"}), function(t, "glob", map[string]string{"pattern": "**"}))
	if got := r.run(t, w.Dir, c.Output.Data, calls); !slices.Equal(got, append(want, false, false)) {
		t.Errorf("got %v\n%s\n%s", got, strings.Join(calls, "\n"), c.Output.Data)
	}
	for a, is := range map[ir.Aspect]ir.Enforcement{ir.AspectRead: ir.Weaker, ir.AspectExecute: ir.Weaker} {
		if row, ok := c.Output.Elsewhere.Cell(ir.FS, ir.FSRuleID(1), a, 0, 0); !ok || row.Is != is || !row.Cites(whyLinks) {
			t.Errorf("%s is %+v", a, row)
		}
	}
}

// real is Gemini CLI itself, with a home for its own files.
type real struct{ program, home string }

// run has Gemini CLI make some calls under rules, in the mode that approves of all, and says which ones succeeded.
func (r *real) run(t *testing.T, dir string, rules []byte, calls []string) []bool {
	t.Helper()
	const user = `{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}}, "telemetry": {"enabled": false},
		"privacy": {"usageStatisticsEnabled": false}, "model": {"disableLoopDetection": true}}`
	var script []byte
	for _, part := range append(calls, `{"text":"done"}`) {
		script = fmt.Appendf(script, `{"method":"generateContentStream","response":[{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":"STOP","index":0}]}]}`+"\n", part)
	}
	model, file := filepath.Join(r.home, "model"), filepath.Join(r.home, "p.toml")
	if err := os.MkdirAll(filepath.Join(r.home, ".gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{file: rules, model: script, filepath.Join(r.home, ".gemini/settings.json"): []byte(user)} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said, err := node(t, r.home, dir, r.program, "--fake-responses-non-strict", model, "--admin-policy", file, "--approval-mode", "yolo", "-o", "stream-json", "-p", "go")
	var out []bool
	for line := range strings.Lines(said) {
		if strings.Contains(line, `"type":"tool_result"`) {
			out = append(out, strings.Contains(line, `"status":"success"`))
		}
	}
	if err != nil || len(out) != len(calls) {
		t.Fatalf("%v: %d results: %s", err, len(out), said)
	}
	return out
}

// function is a model's call of a tool.
func function(t *testing.T, tool string, args map[string]string) string {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"functionCall":{"name":%q,"args":%s}}`, tool, text)
}

// accesses are calls that read each file and directory of a world, and then write to them; and the paths that are read.
func accesses(t *testing.T, w *suite.Tree) (calls, reading []string) {
	t.Helper()
	var writes []string
	for _, abs := range w.Asked() {
		info, err := os.Stat(abs)
		if err != nil {
			t.Fatal(err)
		}
		reading = append(reading, abs)
		if info.IsDir() {
			calls = append(calls, function(t, "list_directory", map[string]string{"dir_path": abs}))
			writes = append(writes, function(t, "write_file", map[string]string{"file_path": abs + "/zz-made", "content": "x"}))
			continue
		}
		calls = append(calls, function(t, "read_file", map[string]string{"file_path": abs}))
		writes = append(writes, function(t, "replace", map[string]string{"file_path": abs, "instruction": "x", "old_string": "here", "new_string": "there"}))
	}
	return append(calls, writes...), reading
}
