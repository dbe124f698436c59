package importer_test

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/agents/suite"
)

// clientForms are the parts that the lists have in common.
var clientForms = strings.NewReplacer(
	"START", `"command": "npx", "args": ["-y", "pkg"], "env": {"K": "v"}`,
	"LOCAL", `"type": "local", "command": ["npx", "-y", "pkg"], "environment": {"K": "v"}`,
	"CODEX", "[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"pkg\"]\n",
	"FAR", "[mcp_servers.far]\nurl = \"https://x\"\n",
)

// serverLists are lists of servers, in the form of each client, with the name of the format that is recognised.
var serverLists = []struct{ client, file, format, text string }{
	{"Claude Code", ".mcp.json", "mcp",
		`{"mcpServers": {"files": {"type": "stdio", START}, "far": {"url": "https://x"}}}`},
	{"Claude Desktop", "claude_desktop_config.json", "mcp",
		`{"globalShortcut": "", "mcpServers": {"files": {START}}, "preferences": {"a": [1]}}`},
	{"VS Code", "mcp.json", "mcp",
		`{"inputs": [], "servers": {"files": {START, "dev": {}}, "far": {"type": "http", "url": "https://x"}}}`},
	{"VS Code's settings", "settings.json", "mcp",
		`{"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"files": {START}}}}`},
	{"VS Code's settings with rules", "settings.json", "vscode",
		`{"chat.tools.terminal.autoApprove": {}, "mcp": {"servers": {"files": {START}}}}`},
	{"Zed", "settings.json", "mcp",
		`{"theme": "One", // mine
		"context_servers": {"files": {"source": "custom", START}, "far": {"source": "extension", "settings": {}}}}`},
	{"Zed's old form", "settings.json", "mcp",
		`{"context_servers": {"files": {"command": {"path": "npx", "args": ["-y", "pkg"], "env": {"K": "v"}}}}}`},
	{"opencode", "any.json", "mcp",
		`{"mcp": {"files": {LOCAL, "enabled": true}, "far": {"type": "remote", "url": "https://x"}}}`},
	{"opencode with permissions", "opencode.json", "opencode",
		`{"permission": "ask", "mcp": {"files": {LOCAL}, "far": {"type": "remote", "url": "https://x"}}}`},
	{"Gemini CLI", "settings.json", "mcp",
		`{"theme": "x", "mcpServers": {"files": {START, "trust": false, "timeout": 3}, "far": {"httpUrl": "https://x"}}}`},
	{"Gemini CLI with lists", "settings.json", "gemini-settings",
		`{"tools": {"allowed": []}, "mcp": {"excluded": ["far"]},
		"mcpServers": {"files": {START}, "far": {"command": "x"}}}`},
	{"Codex", "config.toml", "codex",
		"model = \"x\"\nCODEXenv = { K = \"v\" }\nstartup_timeout_sec = 9\nFAR"},
	{"Codex with a mode", "config.toml", "codex",
		"sandbox_mode = \"read-only\"\nCODEXenv_vars = [\"K\"]\nFAR"},
}

// TestServerLists: the list of each client becomes the same server, with the registry that it is downloaded from, and
// each server elsewhere is named. Formats are told apart by keys: several have one file's name.
func TestServerLists(t *testing.T) {
	for _, c := range serverLists {
		w := suite.NewWorld(t, registry.Formats()...)
		res, err := w.Run(c.file, clientForms.Replace(c.text), importer.Existing)
		if err != nil {
			t.Errorf("%s: %v", c.client, err)
			continue
		}
		command := `command = { program = "npx", args = ["-y", "pkg"] }`
		for _, want := range []string{command, "preset:npm-registry", "name = \"K\"\n"} {
			if !strings.Contains(res.Text, want) || strings.Contains(res.Text, "servers.far") {
				t.Errorf("%s: no %s in\n%s", c.client, want, res.Text)
			}
		}
		far := !strings.Contains(clientForms.Replace(c.text), "far")
		for _, e := range res.Entries {
			far = far || e.Fate == importer.LeftOut && e.Key == "server" && e.Text == "far"
		}
		if !far || !strings.HasPrefix(res.Format, c.format+" ") {
			t.Errorf("%s: %s, %+v", c.client, res.Format, res.Entries)
		}
	}
}

// TestToolLists: lists of tools in an entry take away what they take away in its client.
func TestToolLists(t *testing.T) {
	for list, may := range map[string]string{
		`"timeout": 1`:                                    "a b c",
		`"includeTools": ["a", "b"]`:                      "a b",
		`"enabled_tools": ["a", "b"]`:                     "a b",
		`"tools": ["*"]`:                                  "a b c",
		`"tools": ["a"]`:                                  "a",
		`"includeTools": []`:                              "",
		`"excludeTools": ["a"]`:                           "",
		`"disabledTools": ["a"]`:                          "",
		`"disabled_tools": ["a"], "tools": ["a", "b"]`:    "b",
		`"excludeTools": ["a(x)"], "tools": ["a", "b"]`:   "b",
		`"tools": {"a": {"approval_mode": "prompt"}}`:     "",
		`"tools": {"a": {"approval_mode": "approve"}}`:    "a b c",
		`"tools": ["a"], "excludeTools": ["nowhere", ""]`: "a",
	} {
		w := suite.NewWorld(t, registry.Formats()...)
		res, err := w.Refusing("mcp", `{"mcpServers": {"s": {"command": "x", `+list+`}}}`, importer.RefuseDenies)
		if err != nil {
			t.Errorf("%s: %v", list, err)
			continue
		}
		if got := suite.Called(t, w, res.Text, "s", "a", "b", "c"); got != may {
			t.Errorf("%s: %q may be called, not %q\n%s", list, got, may, res.Text)
		}
	}
}
