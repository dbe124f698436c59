package settings

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/testbuild"
)

// scene is a home and a workspace with files, and a program of accessc.
func scene(t *testing.T, a *Agent, files map[string]string) (Places, string) {
	t.Helper()
	dir := t.TempDir()
	self := filepath.Join(dir, "bin", "accessc")
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := errs(os.MkdirAll(filepath.Dir(path), 0o755), testbuild.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errs(os.MkdirAll(filepath.Dir(self), 0o755), testbuild.WriteFile(self, []byte("x"), 0o755), os.MkdirAll(filepath.Join(dir, "ws"), 0o755)); err != nil {
		t.Fatal(err)
	}
	p := Places{Home: filepath.Join(dir, "home"), Workspace: filepath.Join(dir, "ws"), Getenv: func(string) string { return "" }}
	if _, err := a.Install(p.User(a), Entry{self, nil}); err != nil {
		t.Fatal(err)
	}
	return p, self
}

// TestExamine: a setting that takes the hook away is found wherever an agent reads it, and no other.
func TestExamine(t *testing.T) {
	for _, c := range []struct{ agent, file, text, want string }{
		{"claude-code", "home/other", "", ""},
		{"claude-code", "home/.claude/settings.json", `{"model": "x", "hooks": {"Stop": [{"hooks": [{"command": "mine"}]}]}}`, ""},
		{"claude-code", "ws/.claude/settings.local.json", `{"disableAllHooks": true}`, "disableAllHooks switches all hooks off"},
		{"claude-code", "ws/.claude/settings.local.json", `{"disableAllHooks": false, "permissions": {"defaultMode": "plan"}, "strictPluginOnlyCustomization": ["skills"]}`, ""},
		{"claude-code", "home/.claude/settings.json", `{"permissions": {"defaultMode": "bypassPermissions"}}`, "has the agent ask for nothing"},
		{"claude-code", "home/.claude/settings.json", `{"strictPluginOnlyCustomization": ["hooks"]}`, "lets hooks of administrators alone run"},
		{"claude-code", "ws/.claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}], "A": []}}`, "brings hooks of its own, which the agent starts: Stop"},
		{"claude-code", "ws/.claude/settings.json", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "/x/accessc hook claude-code"}, {"command": "x"}]}]}}`, "hooks of its own, which the agent starts: PreToolUse"},
		{"claude-code", "ws/.claude/settings.json", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "/x/accessc hook claude-code"}]}]}}`, "/x/accessc, which is not there"},
		{"claude-code", "ws/.claude/settings.json", `{`, "cannot be read"},
		{"claude-code", "ws/.claude/settings.json", `{"env": {"LANG": "C", "XDG_STATE_HOME": "x", "PATH": "./bin", "LD_PRELOAD": "a"}}`, "goes by: LD_PRELOAD, PATH, XDG_STATE_HOME"},
		{"claude-code", "ws/.claude/settings.json", `{"env": {"LANG": "C", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "1"}, "enabledPlugins": {"a@b": false}, "permissions": {"allow": ["Bash(git *)"]}}`, ""},
		{"claude-code", "home/.claude/settings.json", `{"env": {"PATH": "/home/me/bin"}, "statusLine": {"type": "command", "command": "mine"}, "enabledPlugins": {"a@b": true}}`, ""},
		{"claude-code", "ws/.claude/settings.json", `{"enabledPlugins": {"a@b": true}}`, "names plugins, which may bring hooks and take others away, by enabledPlugins: a@b"},
		{"claude-code", "ws/.claude/settings.json", `{"extraKnownMarketplaces": {"b": {"source": {}}}}`, "by extraKnownMarketplaces: b"},
		{"claude-code", "home/.claude/settings.json", `{"permissions": {"allow": ["Read", "*"]}}`, "permissions.allow has the agent ask for nothing"},
		{"claude-code", "ws/.claude/settings.json", `{"apiKeyHelper": "./key"}`, "brings a command, which the agent starts: apiKeyHelper"},
		{"claude-code", "ws/.claude/settings.local.json", `{"statusLine": {"type": "command", "command": "x"}}`, "the agent starts: statusLine"},
		{"claude-code", "ws/.claude/agents/a.md", "---\nname: a\nhooks:\n  PreToolUse: []\n---\ntext\n", "brings hooks of its own"},
		{"claude-code", "ws/.claude/skills/s/SKILL.md", "\ufeff--- \r\n{name: a, \"hooks\" : {}}\r\n---\r\n", "brings hooks of its own"},
		{"claude-code", "ws/.claude/skills/s/SKILL.md", "---\nname: webhooks\n---\nhooks: are a text here\n", ""},
		{"claude-code", "ws/.claude/agents/a.md", "hooks: no head\n", ""},
		{"cursor", "ws/.claude/settings.json", `{"env": {"PATH": "x"}, "apiKeyHelper": "x"}`, ""},
		{"cursor", "home/.claude/settings.json", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "/x/accessc hook claude-code"}]}]}}`, "Cursor runs this hook of Claude Code as well"},
		{"cursor", "ws/.claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}`, "hooks of its own"},
		{"copilot", "ws/.github/copilot/settings.json", `{"disableAllHooks": true}`, "switches all hooks off"},
		{"copilot", "ws/.github/hooks/a.json", `{"version": 1, "hooks": {"preToolUse": [{"bash": "x"}]}}`, "hooks of its own"},
		{"copilot", "ws/.claude/settings.json", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "/x/accessc hook claude-code"}]}]}}`, "Copilot CLI runs this hook of Claude Code as well"},
		{"gemini", "ws/.gemini/settings.json", `{"hooksConfig": {"enabled": false}}`, "switches all hooks off"},
		{"gemini", "home/.gemini/settings.json", `{"hooksConfig": {"disabled": ["accessc"]}}`, "switches the hook off"},
		{"gemini", "home/.gemini/settings.json", `{"tools": {"enableHooks": false}}`, "tools.enableHooks switches all hooks off"},
		{"gemini", "ws/.gemini/settings.json", `{"hooks": {"enabled": false}}`, "hooks.enabled switches all hooks off"},
		{"gemini", "ws/.gemini/settings.json", `{"general": {"defaultApprovalMode": "yolo"}}`, "has the agent ask for nothing"},
		{"gemini", "ws/.gemini/settings.json", `{"tools": {"discoveryCommand": "./x"}}`, "the agent starts: tools.discoveryCommand"},
		{"gemini", "ws/.gemini/settings.json", `{"tools": {"enableHooks": true}, "hooks": {"enabled": true}, "general": {"defaultApprovalMode": "default"}}`, ""},
		{"gemini", "ws/.gemini/extensions/e/hooks/hooks.json", `{"hooks": {"BeforeTool": [{"hooks": [{"command": "x"}]}]}}`, "hooks of its own, which the agent starts: BeforeTool"},
		{"gemini", "ws/.gemini/.env", "A=1\nexport XDG_CONFIG_HOME=x\n# PATH=y\n", "goes by: XDG_CONFIG_HOME"},
		{"gemini", "ws/.gemini/.env", "A=1\nGEMINI_API_KEY=x\n", ""},
		{"opencode", "ws/.opencode/tool/x.js", `x`, "the repository brings a tool, which runs in the agent"},
		{"opencode", "ws/.opencode/plugins/x.ts", `export const a = 1`, "the repository brings a plugin"},
		{"opencode", "ws/opencode.json", `{"plugin": ["a", "b"]}`, "brings 2 plugins"},
		{"opencode", "home/.config/opencode/opencode.jsonc", `{"permission": {"*": "allow",},}`, "has the agent ask for nothing"},
		{"opencode", "home/.config/opencode/plugins/mine.js", `x`, ""},
		{"windsurf", "ws/.windsurf/hooks.json", `{"hooks": {"pre_run_command": [{"command": "x"}]}}`, "hooks of its own"},
		{"codex", "home/.codex/config.toml", "[features]\nhooks = false\n", "features.hooks switches all hooks off"},
		{"codex", "ws/.codex/config.toml", "approval_policy = \"never\"\n[[hooks.PreToolUse]]\nmatcher = \"x\"\n[[hooks.PreToolUse.hooks]]\ncommand = \"x\"\n", "hooks of its own"},
		{"codex", "ws/.codex/config.toml", "x = [", "cannot be read"},
		{"codex", "home/.codex/config.toml", "sandbox_mode = 'workspace-write'\n", "has commands refused that run"},
		{"codex", "ws/.codex/config.toml", "sandbox_mode = 'read-only'\n", "or install with --judge-only"},
		{"codex", "home/.codex/config.toml", "sandbox_mode = 'danger-full-access'\n", ""},
	} {
		a := agentOf(t, c.agent)
		p, self := scene(t, a, map[string]string{c.file: c.text})
		r := a.Examine(p, self)
		r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return strings.Contains(f.Text, "does not trust") })
		for i, f := range r.Findings {
			r.Findings[i].Path = strings.TrimPrefix(f.Path, filepath.Dir(p.Home)+string(filepath.Separator))
		}
		hit := slices.ContainsFunc(r.Findings, func(f Finding) bool {
			return strings.Contains(f.Text, c.want) && filepath.ToSlash(f.Path) == c.file
		})
		if !r.Installed || c.want == "" && len(r.Findings) > 0 || c.want != "" && !hit {
			t.Errorf("%s, %s: %s: got %+v", c.agent, c.file, c.text, r.Findings)
		}
	}
}

// TestExamineEntry: an entry that does not start this program for every tool is found.
func TestExamineEntry(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs there have no permission of their own")
	}
	p, self := scene(t, claude, nil)
	path := p.User(claude)
	text, _ := os.ReadFile(path)
	other := filepath.Join(p.Workspace, "accessc")
	if err := testbuild.WriteFile(other, []byte("y"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"matcher": "*"`, `"matcher": "Bash"`, "not as install writes it"},
		{`"onFailure": "block"`, `"async": true`, "not as install writes it"},
		{`"PostToolUse"`, `"Other"`, "not as install writes it"},
		{self, other, "and this program is"},
		{self, filepath.Dir(other) + "/none/accessc", "which is not there"},
		{self, filepath.Dir(filepath.Dir(self)) + "/accessc", "which is no program"},
		{`"hook"`, `"check"`, "the hook is not installed"},
	} {
		if err := errs(os.WriteFile(filepath.Join(filepath.Dir(filepath.Dir(self)), "accessc"), nil, 0o600),
			os.WriteFile(path, []byte(strings.ReplaceAll(string(text), c.from, c.to)), 0o600)); err != nil {
			t.Fatal(err)
		}
		r := claude.Examine(p, self)
		if !slices.ContainsFunc(r.Findings, func(f Finding) bool { return strings.Contains(f.Text, c.want) }) {
			t.Errorf("%s: got %+v", c.to, r.Findings)
		}
		if slices.ContainsFunc(r.Entries, func(e Installed) bool { return e.Trusted && e.Program != self }) {
			t.Errorf("%s: another program is to be started: %+v", c.to, r.Entries)
		}
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := claude.Examine(Places{Home: p.Home, Workspace: filepath.Dir(p.Home), Getenv: p.Getenv}, self); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Text, "lies in the workspace") {
		t.Errorf("got %+v", r.Findings)
	}
	if _, err := claude.Install(p.Project(claude), Entry{self, nil}); err != nil {
		t.Fatal(err)
	}
	if r := claude.Examine(p, self); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Text, "installed 2 times") {
		t.Errorf("got %+v", r.Findings)
	}
}

// TestExamineTrust: Codex starts a hook that it remembers as trusted, by file, event and place.
func TestExamineTrust(t *testing.T) {
	a := agentOf(t, "codex")
	p, self := scene(t, a, nil)
	path := p.User(a)
	toml := ""
	for _, event := range []string{"pre_tool_use", "permission_request", "post_tool_use"} {
		toml += "[hooks.state.'" + path + ":" + event + ":0:0']\ntrusted_hash = \"sha256:0\"\n"
	}
	config := filepath.Join(filepath.Dir(path), "config.toml")
	for text, want := range map[string]int{
		toml: 0, "": 3, strings.Replace(toml, ":0:0'", ":1:0'", 1): 1, strings.Replace(toml, "trusted_hash", "enabled = false\ntrusted_hash", 1): 1,
	} {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := a.Examine(p, self); len(r.Findings) != want {
			t.Errorf("%s: got %+v", text, r.Findings)
		}
	}
}

// TestRefused: only an answer that an agent reads as a refusal is one.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		status            int
		out               string
		refused, answered bool
	}{
		{2, "", true, true}, {0, "", false, true}, {0, "{}", false, true}, {0, `{"decision":"deny"}`, true, true}, {0, `{"permission":"deny"}`, true, true},
		{0, `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, true, true}, {0, `{"permissionDecision":"allow"}`, false, true},
		{1, `{"decision":"deny"}`, false, false}, {-1, "", false, false}, {0, "deny", false, false}, {0, `{"reason":"deny"}`, false, true},
	} {
		if refused, answered := claude.Refused(c.status, []byte(c.out)); refused != c.refused || answered != c.answered {
			t.Errorf("%d %s: got %v %v", c.status, c.out, refused, answered)
		}
	}
}

// TestTooOld: versions of Claude Code that obey a part of the entry alone are known.
func TestTooOld(t *testing.T) {
	for version, want := range map[string]string{
		"2.1.138": "without its flags", "2.0.999": "without its flags", "1.0.0": "without its flags", "2.1.139": "hook has failed", "2.1.294": "hook has failed",
		"2.1.295": "", "2.1.330": "", "3.0.0": "", "": "", "x": "",
	} {
		if got := claude.TooOld(version); (got != "") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %q", version, got)
		}
	}
}

// TestExamineDevice: a repository's settings that are no file are not read. Cause: a named pipe in
// their place had the doctor wait for ever.
func TestExamineDevice(t *testing.T) {
	p, self := scene(t, claude, nil)
	path := p.Project(claude)
	if err := errs(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(os.DevNull, path)); err != nil {
		t.Skip(err)
	}
	if r := claude.Examine(p, self); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Text, "cannot be read") {
		t.Errorf("got %+v", r.Findings)
	}
}

// TestExamineMarks: a workspace whose name reads as a pattern is examined like any other.
func TestExamineMarks(t *testing.T) {
	dir := t.TempDir()
	ws := filepath.Join(dir, "[ab]*")
	if err := errs(os.MkdirAll(filepath.Join(ws, ".opencode", "plugins"), 0o755), testbuild.WriteFile(filepath.Join(ws, ".opencode", "plugins", "x.js"), []byte("x"), 0o600)); err != nil {
		t.Skip(err)
	}
	r := agentOf(t, "opencode").Examine(Places{Home: filepath.Join(dir, "home"), Workspace: ws, Getenv: func(string) string { return "" }}, "/none")
	if !slices.ContainsFunc(r.Findings, func(f Finding) bool { return strings.Contains(f.Text, "brings a plugin") }) {
		t.Errorf("got %+v", r.Findings)
	}
}
