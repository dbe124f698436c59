package agents_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/agents/model"
)

// claude runs Claude Code on one prompt.
func (p *place) claude(m *model.Server, words ...string) string {
	p.Helper()
	program := installed(p.T, "@anthropic-ai/claude-code-linux-*/claude")
	p.env = append(p.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=none",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1")
	return p.run("", append([]string{program, "-p", "go"}, words...)...)
}

// TestClaudeCodeServer: Claude Code is the client of a server that adopt has put behind accessc.
func TestClaudeCodeServer(t *testing.T) {
	t.Parallel()
	installed(t, "@modelcontextprotocol/server-filesystem/dist/index.js")
	list := `{"mcpServers": {"files": {"command": "node",
  "args": ["node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", "${ws}"]}}}`
	p := newPlace(t, map[string]string{"docs/a": "text of docs/a", "docs/secret": "text of docs/secret", ".mcp.json": list, "accessc.toml": `
[servers.files.access]
fs = [
  { path = ".", read = true },
  { path = "docs", read = true, write = true },
  { path = "docs/secret" },
]
`})
	if out, err := exec.Command("cp", "-al", packages, p.ws).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before := p.read(".mcp.json")
	p.accessc("adopt", ".mcp.json")
	file := func(name string) map[string]any { return map[string]any{"path": p.file(name), "content": "x"} }
	m := model.Start(
		model.Call("mcp__files__read_text_file", file("docs/a")),
		model.Call("mcp__files__read_text_file", file("docs/secret")),
		model.Call("mcp__files__search_files", map[string]any{"path": p.file("docs"), "pattern": "**/*"}),
		model.Call("mcp__files__write_file", file("docs/new")),
		model.Call("mcp__files__write_file", file("new")),
		model.Say("done"),
	)
	defer m.Close()
	p.claude(m, "--mcp-config", ".mcp.json", "--strict-mcp-config", "--allowedTools", "mcp__files")
	p.hasResults(m.Results(), "text of docs/a",
		"accessc refused read_text_file: read docs/secret: rule docs/secret, accessc.toml:6",
		"docs/a", "Successfully", "EACCES")
	if p.read("docs/new") != "x" || p.read("new") != "" {
		t.Errorf("docs/new has %q, new has %q", p.read("docs/new"), p.read("new"))
	}
	p.accessc("adopt", "--undo", ".mcp.json")
	if got := p.read(".mcp.json"); got != before {
		t.Errorf("after --undo: %s", got)
	}
}

// bash is a call of Claude Code's tool for commands.
func bash(line string) model.Turn {
	return model.Call("Bash", map[string]any{"command": line, "description": "x"})
}

// claudeSettings are a user's own: they permit every call, and have a hook.
const claudeSettings = `{
	"permissions": { "allow": ["Bash", "Read", "Write"] },
  "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type":"command","command":"touch ~/own"}]}]}}`

// TestClaudeCodeHook: the policy holds for the tools that the model has Claude Code use, and the model
// learns the reasons of refusals.
func TestClaudeCodeHook(t *testing.T) { users(t, claudeCodeHook) }

func claudeCodeHook(t *testing.T, nobody bool) {
	t.Parallel()
	p := newPlace(t, coder)
	p.nobody = nobody
	uninstall := p.install("claude-code", "~/.claude/settings.json", claudeSettings)
	read := func(name string) model.Turn {
		return model.Call("Read", map[string]any{"file_path": p.file(name)})
	}
	write := func(name string) model.Turn {
		return model.Call("Write", map[string]any{"file_path": p.file(name), "content": "x"})
	}
	m := model.Start(
		bash("./report"),
		bash("cat docs/a; rm -r docs"),
		bash("cat docs/a | tee more"),
		read("docs/a"), read("docs/secret"),
		write("docs/new"), write("other"),
		bash(p.program+" exec --command -- cat docs/secret"),
		model.Say("done"),
	)
	defer m.Close()
	p.claude(m)
	p.hasResults(m.Results(), "text of docs/a\ncat: docs/secret: Permission denied", "nothing is removed here", "more",
		"text of docs/a", "read docs/secret: rule docs/secret", "docs/new", "create other", "starts accessc with a configuration")
	p.held(m.Results())
	// The command ended with 0, so the agent would not know.
	p.has(m.Last(), "accessc refused this command 2 times")
	if p.read("docs/new") != "x" {
		t.Error("docs/new was not written")
	}
	if _, err := os.Stat(p.file("~/own")); err != nil {
		t.Errorf("the user's own hook did not run: %v", err)
	}
	uninstall()
}

// TestClaudeCodeSubagent: the hook holds the agents that Claude Code starts.
func TestClaudeCodeSubagent(t *testing.T) {
	t.Parallel()
	p := newPlace(t, coder)
	p.install("claude-code", "~/.claude/settings.json", claudeSettings)
	const prompt = "the task of another"
	m := model.Start(model.Call("Agent", map[string]any{"description": "x", "prompt": prompt, "subagent_type": "general-purpose"}), model.Say("done"))
	defer m.Close()
	m.Converse(prompt, bash("./report"), bash("rm -r docs"), model.Say("done"))
	p.claude(m)
	results := strings.Join(m.Results(), "\n")
	p.has(results, "cat: docs/secret: Permission denied")
	p.has(results, "nothing is removed here")
	p.held(m.Results())
}

// TestClaudeCodeHookFails: no call is made while the policy, or the hook, cannot be had.
func TestClaudeCodeHookFails(t *testing.T) {
	for name, broken := range map[string]func(p *place) error{
		"policy": func(p *place) error { return os.WriteFile(p.file("accessc.toml"), []byte("[tools"), 0o600) },
		"hook":   func(p *place) error { return os.Remove(p.program) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, coder)
			p.program = p.file("~/accessc")
			p.must(os.Link(filepath.Join(bin, "accessc"), p.program))
			p.install("claude-code", "~/.claude/settings.json", claudeSettings)
			p.must(broken(p))
			m := model.Start(bash("echo x >made"), model.Call("Read", map[string]any{"file_path": p.file("docs/a")}), model.Say("done"))
			defer m.Close()
			p.claude(m)
			p.hasResults(m.Results(), "hook error", "hook error")
			if p.read("made") != "" {
				t.Error("the command ran")
			}
		})
	}
}
