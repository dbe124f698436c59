package agents_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/agents/model"
)

// whole is a policy by which an agent is one tool, up to the variables that it may read. The model on
// loopback stands in for the service of the preset.
const whole = `[tools.agent]
source = "local"
command = %q
access.extends = ["preset:%s"]
access.fs = [
  { path = ".", read = true, write = true, execute = true },
  { path = "docs/secret" },
]
access.net = [{ host = "127.0.0.1", scheme = "tcp", port = %s, allow = true }]
access.env = [
  { name = "PATH", read = true },
  { name = "HOME", read = true },
`

// newWhole is a workspace in which an agent is to run.
func newWhole(t *testing.T, nobody bool) *place {
	p := newPlace(t, map[string]string{"docs/a": "text of docs/a\n", "docs/secret": "a secret\n", "~/.ssh/id_rsa": "a key\n"})
	p.nobody = nobody
	return p
}

// agent writes the policy for an agent by its preset. Codex tunnels to the model, which speaks no TLS, so
// the rule has a scheme.
func (p *place) agent(model, preset, command string, variables ...string) {
	p.Helper()
	policy := fmt.Sprintf(whole, command, preset, model[strings.LastIndex(model, ":")+1:])
	for _, name := range variables {
		policy += fmt.Sprintf("  { name = %q, read = true },\n", name)
	}
	p.write("accessc.toml", policy+"]\n")
}

// copy lays an installed program down elsewhere. A link would come to belong to nobody.
func (p *place) copy(from, to string) {
	p.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.file(to)), 0o755))
	p.must(exec.Command("cp", "-r", from, p.file(to)).Run())
}

// confined fails unless the policy held for all that the model saw.
func (p *place) confined(results []string) {
	p.Helper()
	if out := strings.Join(results, "\n"); strings.Contains(out, "a secret") || strings.Contains(out, "a key") {
		p.Errorf("the model has read a denied file: %s", out)
	}
	if p.read("new") == "" {
		p.Error("new was not written")
	}
}

// TestWholeClaudeCode: Claude Code, installed as its installer does it, works under its preset, and
// the policy holds for the agent and for the commands that it starts.
func TestWholeClaudeCode(t *testing.T) { users(t, wholeClaudeCode) }

func wholeClaudeCode(t *testing.T, nobody bool) {
	t.Parallel()
	program := installed(t, "@anthropic-ai/claude-code-linux-*/claude")
	p := newWhole(t, nobody)
	const at = "~/.local/share/claude/versions/1"
	p.copy(program, at)
	p.must(os.MkdirAll(p.file("~/.local/bin"), 0o755))
	p.must(os.Symlink(p.file(at), p.file("~/.local/bin/claude")))
	m := model.Start(
		bash("cat docs/a docs/secret; true"),
		bash("cat "+p.file("~/.ssh/id_rsa")+"; true"),
		model.Call("Read", map[string]any{"file_path": p.file("docs/secret")}),
		model.Call("Write", map[string]any{"file_path": p.file("new"), "content": "x"}),
		model.Say("done"),
	)
	defer m.Close()
	p.agent(m.URL, "claude-code", "claude", "ANTHROPIC_BASE_URL")
	p.env = append(p.env, "PATH="+p.file("~/.local/bin")+":"+os.Getenv("PATH"), "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=none")
	p.accessc("approve", "--yes", "preset:claude-code")
	p.accessc("exec", "agent", "--", "-p", "go", "--allowedTools", "Bash,Read,Write")
	p.hasResults(m.Results(), "text of docs/a", "Permission denied", "EACCES", "new")
	p.confined(m.Results())
}

// TestWholeCodex: the same for Codex, as npm installs it into a project. Its settings are in the home
// that is the tool's own.
func TestWholeCodex(t *testing.T) { users(t, wholeCodex) }

func wholeCodex(t *testing.T, nobody bool) {
	t.Parallel()
	program := installed(t, "@openai/codex-linux-*/vendor/*/bin/codex")
	p := newWhole(t, nobody)
	p.copy(program, "tools/codex")
	run := func(line string) model.Turn { return model.Call("exec_command", map[string]any{"cmd": line}) }
	m := model.Start(
		run("cat docs/a docs/secret"),
		run("cat "+p.file("~/.ssh/id_rsa")),
		model.Call("apply_patch", "*** Begin Patch\n*** Add File: new\n+x\n*** End Patch\n"),
		model.Say("done"),
	)
	defer m.Close()
	p.agent(m.URL, "codex", "tools/codex")
	home := strings.TrimSpace(p.accessc("home", "path", "agent"))
	p.must(os.MkdirAll(home+"/.codex", 0o700))
	config := strings.Replace(codexConfig, `"KEY"`, `"CODEX_API_KEY"`, 1) + `"` + m.URL + "/v1\"\n"
	p.must(os.WriteFile(home+"/.codex/config.toml", []byte(config), 0o600))
	p.env = append(p.env, "CODEX_API_KEY=none")
	// Codex' own sandbox has no room in this one.
	p.accessc("exec", "agent", "--", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go")
	p.hasResults(m.Results(), "text of docs/a", "Permission denied", "A new")
	p.confined(m.Results())
}

// TestWholeGemini: the same for Gemini CLI.
func TestWholeGemini(t *testing.T) { users(t, wholeGemini) }

func wholeGemini(t *testing.T, nobody bool) {
	t.Parallel()
	program := installed(t, "@google/gemini-cli/bundle/gemini.js")
	p := newWhole(t, nobody)
	p.agent(":1", "gemini", "node bundle/gemini.js") // its model is a file
	p.copy(filepath.Dir(program), "bundle")
	p.copy(filepath.Dir(program)+"/../package.json", "package.json")
	p.write("model", gemini(
		call("run_shell_command", `{"command":"cat docs/a docs/secret","description":"x"}`),
		call("run_shell_command", fmt.Sprintf(`{"command":"cat %s","description":"x"}`, p.file("~/.ssh/id_rsa"))),
		call("read_file", `{"file_path":"docs/secret"}`),
		call("write_file", `{"file_path":"new","content":"x"}`),
	))
	home := strings.TrimSpace(p.accessc("home", "path", "agent"))
	p.must(os.MkdirAll(home+"/.gemini", 0o700))
	p.must(os.WriteFile(home+"/.gemini/settings.json", []byte(geminiSettings), 0o600))
	p.env = append(p.env, "GEMINI_API_KEY=none")
	out := p.accessc("exec", "agent", "--", "--fake-responses-non-strict", "model", "--approval-mode", "yolo", "-o", "stream-json", "-p", "go")
	var results []string
	for line := range strings.Lines(out) {
		var event struct{ Type, Output string }
		if json.Unmarshal([]byte(line), &event) == nil && event.Type == "tool_result" {
			results = append(results, event.Output)
		}
	}
	p.hasResults(results, "text of docs/a", "Permission denied", "", "")
	p.confined(results)
}
