package settings

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/accessc/accessc/internal/files/wholefile"
	"github.com/accessc/accessc/internal/text/plural"
)

// watched lists the files that an agent reads, those of administrators first.
func (p Places) watched(a *Agent) []watched {
	var out []watched
	add := func(scope, dir string, names ...string) {
		for _, name := range names {
			for _, path := range matches(dir, name) {
				out = append(out, watched{scope, path})
			}
		}
	}
	add(managed, managedDir(a.Name), managedFiles[a.Name]...)
	add(user, p.dir(a), userFiles[a.Name]...)
	if p.Workspace != "" {
		add(project, p.Workspace, projectFiles[a.Name]...)
	}
	return out
}

// matches are the files below a directory that a well-formed pattern names; a name without "*" is one, there or not.
func matches(dir, pattern string) []string {
	names := []string{pattern}
	if strings.Contains(pattern, "*") {
		names, _ = fs.Glob(os.DirFS(dir), pattern) // a directory's own name may look like a pattern
	}
	out := make([]string, 0, len(names))
	for _, name := range names {
		out = append(out, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return out
}

// managedDir is the directory of the settings that administrators make.
func managedDir(agent string) string {
	dirs := map[string][3]string{ // Linux, macOS, Windows
		"claude-code": {"/etc/claude-code", "/Library/Application Support/ClaudeCode", `C:\Program Files\ClaudeCode`},
		"codex":       {"/etc/codex", "/etc/codex", `C:\ProgramData\OpenAI\Codex`},
		"copilot":     {"/etc/github-copilot/policy.d", "/etc/github-copilot/policy.d", `C:\ProgramData\GitHub\Copilot\policy.d`},
		"cursor":      {"/etc/cursor", "/Library/Application Support/Cursor", `C:\ProgramData\Cursor`},
		"gemini":      {"/etc/gemini-cli", "/Library/Application Support/GeminiCli", `C:\ProgramData\gemini-cli`},
		"opencode":    {"/etc/opencode", "/Library/Application Support/opencode", `C:\ProgramData\opencode`},
		"windsurf":    {"/etc/windsurf", "/Library/Application Support/Windsurf", `C:\ProgramData\Windsurf`},
	}
	return dirs[agent][map[string]int{"darwin": 1, "windows": 2}[runtime.GOOS]]
}

// The files of settings, below their directories. The configuration of Codex comes before its
// hooks: it says which of them the user trusts.
var (
	managedFiles = map[string][]string{
		"claude-code": {"managed-settings.json", "managed-settings.d/*.json"}, "codex": {"requirements.toml", "managed_config.toml"},
		"copilot": {"*.json"}, "cursor": {"hooks.json"}, "gemini": {"settings.json", "system-defaults.json"},
		"opencode": {"opencode.json", "opencode.jsonc"}, "windsurf": {"hooks.json"},
	}
	userFiles = map[string][]string{
		"claude-code": {"settings.json"}, "codex": {"config.toml", "hooks.json"},
		"copilot": {"settings.json", "config.json", "hooks/*.json"}, "cursor": {"hooks.json"}, "gemini": {"settings.json"},
		"opencode": {"opencode.json", "opencode.jsonc", "plugins/accessc.js"}, "windsurf": {"hooks.json"},
	}
	projectFiles = map[string][]string{
		"claude-code": {".claude/settings.json", ".claude/settings.local.json"},
		"codex":       {".codex/config.toml", ".codex/hooks.json"},
		"copilot": {
			".github/copilot/settings.json", ".github/copilot/settings.local.json", ".github/hooks/*.json",
			".claude/settings.json", ".claude/settings.local.json",
		},
		"cursor": {".cursor/hooks.json", ".claude/settings.json", ".claude/settings.local.json"},
		"gemini": {".gemini/settings.json", ".gemini/extensions/*/hooks/hooks.json"},
		"opencode": {
			"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc",
			".opencode/plugin/*.[jt]s", ".opencode/plugins/*.[jt]s", ".opencode/tool/*.[jt]s", ".opencode/tools/*.[jt]s",
		},
		"windsurf": {".windsurf/hooks.json"},
	}
)

// toggle is a setting that switches the hook off, or has the agent ask for nothing.
type toggle struct {
	key  string
	bad  func(v any) bool
	text string
}

func is(bad ...any) func(any) bool { return func(v any) bool { return slices.Contains(bad, v) } }

// has reports a list in which one of some texts is.
func has(texts ...string) func(any) bool {
	return func(v any) bool {
		list, _ := v.([]any)
		return slices.ContainsFunc(list, func(v any) bool {
			s, _ := v.(string)
			return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(s, text) })
		})
	}
}

// lists reports a list with one text.
func lists(text string) func(any) bool {
	return func(v any) bool {
		list, _ := v.([]any)
		return slices.Contains(list, any(text))
	}
}

func either(a, b func(any) bool) func(any) bool {
	return func(v any) bool { return a(v) || b(v) }
}

const (
	switchedOff = "switches all hooks off"
	onlyManaged = "lets hooks of administrators alone run"
	unasked     = "has the agent ask for nothing: what the hook leaves to it, it does"
)

var claudeToggles = []toggle{
	{"disableAllHooks", is(true), switchedOff}, {"allowManagedHooksOnly", is(true), onlyManaged},
	{"strictPluginOnlyCustomization", either(is(true), has("hooks")), onlyManaged},
	{"permissions.defaultMode", is("bypassPermissions"), unasked}, {"permissions.allow", lists("*"), unasked},
}

// toggles are those of each agent.
var toggles = map[string][]toggle{
	"claude-code": claudeToggles,
	"copilot":     {{"disableAllHooks", is(true), switchedOff}},
	"codex": {
		{"features.hooks", is(false), switchedOff}, {"features.codex_hooks", is(false), switchedOff},
		{"allow_managed_hooks_only", is(true), onlyManaged}, {"approval_policy", is("never"), unasked},
	},
	"gemini": {
		{"hooksConfig.enabled", is(false), switchedOff}, {"hooksConfig.disabled", has("accessc"), "switches the hook off"},
		{"tools.enableHooks", is(false), switchedOff}, {"hooks.enabled", is(false), switchedOff}, {"hooks.disabled", has("accessc"), "switches the hook off"},
		{"defaultApprovalMode", is("yolo"), unasked}, {"general.defaultApprovalMode", is("yolo"), unasked},
	},
	"opencode": {{"permission", is("allow"), unasked}, {"permission.*", is("allow"), unasked}},
}

// envs are variables that have agents ask less, or take hooks away.
var envs = map[string][]string{
	"claude-code": {"CLAUDE_CODE_SIMPLE"}, "copilot": {"COPILOT_ALLOW_ALL"}, "opencode": {"OPENCODE_PURE"},
}

// switches looks for the toggles in a file.
func (x *examination) switches(w watched, tree map[string]any) {
	for _, t := range toggles[x.agent.Name] {
		if v := at(tree, t.key); v != nil && t.bad(v) {
			x.find(w.path, "%s %s", t.key, t.text)
		}
	}
}

// at is the value of a dotted key.
func at(tree map[string]any, key string) any {
	var v any = tree
	for _, part := range strings.Split(key, ".") {
		m, _ := v.(map[string]any)
		v = m[part]
	}
	return v
}

func merge(into, from map[string]any) map[string]any {
	if into == nil {
		into = map[string]any{}
	}
	maps.Copy(into, from)
	return into
}

// brought looks for hooks that a repository brings.
func (x *examination) brought(w watched, tree map[string]any, own []found) {
	if x.script(w) {
		if len(own) == 0 {
			what := "plugin"
			if strings.HasPrefix(filepath.Base(filepath.Dir(w.path)), "tool") {
				what = "tool"
			}
			x.find(w.path, "the repository brings a %s, which runs in the agent and may take hooks away", what)
		}
		return
	}
	if list, _ := tree["plugin"].([]any); len(list) > 0 {
		x.find(w.path, "the repository brings %s, which run in the agent and may take hooks away", plural.Count(len(list), "plugin"))
	}
	x.commands(w, tree)
	hooks, _ := tree[hooksKey].(map[string]any)
	names := []string{}
	for name, v := range hooks {
		n := x.count(v)
		for _, f := range own {
			if f.event == name {
				n--
			}
		}
		if n > 0 {
			names = append(names, name)
		}
	}
	if sort.Strings(names); len(names) > 0 {
		x.find(w.path, "the repository brings hooks of its own, which the agent starts: %s", strings.Join(names, ", "))
	}
}

// count is how many hooks an event has.
func (x *examination) count(v any) int {
	list, _ := v.([]any)
	n := 0
	for _, item := range list {
		group, _ := item.(map[string]any)
		in, grouped := group[hooksKey].([]any)
		if !grouped {
			in = []any{item}
		}
		n += len(in)
	}
	return n
}

// borrowed looks for the hook of Claude Code in settings that another agent reads, too: it is then
// asked by an agent whose events it does not know.
func (x *examination) borrowed() {
	claude := agents[0]
	var paths []string
	switch x.agent.Name {
	case "cursor":
		paths = []string{x.places.User(claude)}
		fallthrough
	case "copilot":
		if x.places.Workspace != "" {
			paths = append(paths, x.places.Project(claude))
		}
	}
	for _, path := range paths {
		_, data, err := wholefile.Read(path)
		if err != nil {
			continue
		}
		if all, _, _ := claude.find(data); len(all) > 0 {
			x.find(path, "%s runs this hook of Claude Code as well: both are asked, and %s decides which answer counts", x.agent.Title, x.agent.Title)
		}
	}
}

// notHeld are the actions and cases that an agent's hook does not hold.
var notHeld = map[string][]string{
	"claude-code": {
		"files that a prompt names with @, which are read without a tool", "commands that you type behind !",
		"searches that the model's host makes, and its other tools there", "constraints of an MCP server that the agent calls by a name of its own: a plugin's, an account's, a shortened one",
		"claude --bare and --dangerously-skip-permissions, which no file shows",
	},
	"codex": {
		"input to a command that runs already (write_stdin)", "web searches, images and other tools of the model's host",
		"a refusal of apply_patch, in versions that do not enforce it (openai/codex#27833)", "a hook that fails, is late or is not trusted: Codex goes on",
	},
	"copilot": {
		"files that a prompt names with @", "commands that you type behind !", "a hook that is late: Copilot goes on; accessc refuses after half of the limit",
		"Copilot in the cloud, which has no accessc: a hook of the workspace refuses all there",
	},
	"cursor": {
		"constraints of an MCP server that lists no tools: the events name no server, so a tool counts for every server that lists one of its name",
		"completions (Tab)", "commands in your own terminals", "Cursor in the cloud, which has no accessc: a hook of the workspace refuses all there",
	},
	"gemini": {
		"files that a prompt names with @", "commands that you type behind !", "a hook that fails or is late: Gemini CLI goes on",
		"a hook of the workspace in a folder that is not trusted", "searches that the model's host makes", "gemini --yolo, which no file shows",
	},
	"opencode": {
		"commands that you type behind !", "other plugins, which run in the same process",
		"opencode --pure, which loads no plugin, and a plugin that it cannot load",
	},
	"windsurf": {
		"tools without an event: searches, the browser", "a hook that fails otherwise than by status 2: Windsurf goes on",
	},
}

// notHeldAnywhere are the actions that no hook is asked about.
var notHeldAnywhere = []string{
	"servers of MCP that the agent starts, and what they do beyond the arguments of a call: accessc adopt",
	"the agent itself: accessc exec --command -- AGENT",
}
