package agents_test

import (
	"os/exec"
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
