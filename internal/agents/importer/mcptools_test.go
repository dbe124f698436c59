package importer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
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
		w := newWorld(t)
		res, err := w.run(c.file, clientForms.Replace(c.text), Existing)
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
			far = far || e.Fate == LeftOut && e.Key == "server" && e.Text == "far"
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
		w := newWorld(t)
		res, err := w.refusing("mcp", `{"mcpServers": {"s": {"command": "x", `+list+`}}}`, RefuseDenies)
		if err != nil {
			t.Errorf("%s: %v", list, err)
			continue
		}
		if got := called(t, w, res.Text, "s", "a", "b", "c"); got != may {
			t.Errorf("%s: %q may be called, not %q\n%s", list, got, may, res.Text)
		}
	}
}

// called are the tools of a server that a configuration lets be called.
func called(t *testing.T, w *world, text, server string, tools ...string) string {
	t.Helper()
	res, err := compiled(text, w.home)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range tools {
		if callable(res.Program, server, ir.Served(res.Program.Tools, server), name) {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// TestServerRules: the tools of a server that Claude Code's rules deny or ask about cannot be called, in every
// spelling; those that they allow can.
func TestServerRules(t *testing.T) {
	for _, c := range []struct{ rules, may string }{
		{`"allow": ["mcp__s"]`, "a b get_x"},
		{`"allow": ["mcp__s__*"]`, "a b get_x"},
		{`"allow": ["mcp__s__a"]`, "a"},
		{`"allow": ["mcp__s__a", "mcp__s"]`, "a b get_x"},
		{`"allow": ["mcp__s__get_*", "mcp__s__a"]`, "a"},
		{`"allow": ["mcp__s__b(x)", "mcp__s__a"]`, "a"},
		{`"deny": ["mcp__s"]`, ""},
		{`"deny": ["mcp__s__*"]`, ""},
		{`"deny": ["mcp__s__a"]`, ""},
		{`"deny": ["mcp__s__a(x)"], "allow": ["mcp__s"]`, ""},
		{`"deny": ["mcp__s__a"], "allow": ["mcp__s"]`, ""},
		{`"deny": ["mcp__s__a"], "allow": ["mcp__s__a", "mcp__s__b"]`, "b"},
		{`"deny": ["mcp__s__get_*"], "allow": ["mcp__s__get_x", "mcp__s__b"]`, "b"},
		{`"deny": ["mcp__s__get_*"]`, ""},
		{`"ask": ["mcp__s"], "allow": ["mcp__s__a"]`, ""},
		{`"ask": ["mcp__s__a"], "allow": ["mcp__s__b", "mcp__s__a"]`, "b"},
		{`"deny": ["mcp__*"], "allow": ["mcp__s__a"]`, ""},
		{`"deny": ["mcp__*__a"], "allow": ["mcp__s__a", "mcp__s__b"]`, "b"},
		{`"deny": ["mcp__*__a"], "allow": ["mcp__s"]`, ""},
		{`"defaultMode": "plan", "deny": ["mcp__s__b"], "allow": ["mcp__s__a"]`, ""},
	} {
		w := newWorld(t)
		text := `{"permissions": {` + c.rules + `}}`
		denies := RefuseDenies
		if strings.Contains(text, "mcp__*") {
			if _, err := w.refusing("claude-code", text, denies); err == nil {
				t.Errorf("%s: a rule is lost in silence", c.rules)
			}
			denies = AskDenies
		}
		res, err := w.refusing("claude-code", text, denies)
		if err != nil {
			t.Errorf("%s: %v", c.rules, err)
			continue
		}
		if got := called(t, w, res.Text, "s", "a", "b", "get_x"); got != c.may {
			t.Errorf("%s: %q may be called, not %q\n%s", c.rules, got, c.may, res.Text)
		}
		for _, e := range res.Entries {
			if e.Fate == 0 {
				t.Errorf("%s: %s has no fate", c.rules, e.Text)
			}
		}
	}
}

// TestServerOfToolsName: a server that is called as the tool is, in either case, stops the import with the way out.
func TestServerOfToolsName(t *testing.T) {
	for _, name := range []string{"agent", "Agent"} {
		_, err := newWorld(t).refusing("claude-code", `{"permissions": {"deny": ["mcp__`+name+`"]}}`, AskDenies)
		if err == nil || !strings.Contains(err.Error(), "--tool gives that another name") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestServerRulesDrawn: the proof finds no random rules about servers whose result would permit more.
func TestServerRulesDrawn(t *testing.T) {
	w := newWorld(t)
	drawn(t, 500, func(r *rand.Rand) error {
		rule := func() string {
			return fmt.Sprintf("%q", "mcp__"+pick(r, "s", "s__t", "s-u", "*", "s*")+
				pick(r, "", "__a", "__b", "__a__b", "__*", "__a*", "__", "__a(x)"))
		}
		list := func(n int) string { return "[" + strings.Join(some(r, n, rule), ", ") + "]" }
		text := fmt.Sprintf(`{"permissions": {"allow": %s, "ask": %s, "deny": %s}}`, list(4), list(2), list(3))
		if _, err := w.refusing("claude-code", text, AskDenies); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		return nil
	})
}
