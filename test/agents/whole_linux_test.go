package agents_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/agents/model"
)

// newWhole is a workspace in which an agent is to run.
func newWhole(t *testing.T, nobody bool) *place {
	p := newPlace(t, map[string]string{"docs/a": "text of docs/a\n", ".env": "a secret\n", "~/.ssh/id_rsa": "a key\n"})
	p.nobody = nobody
	return p
}

// agent writes the policy for an agent as a new user does. The flags that it returns let the agent reach the model: on
// loopback, and without TLS.
func (p *place) agent(name, tool, model string) (flags []string) {
	p.Helper()
	p.accessc("init", "--agent", name)
	port := model[strings.LastIndex(model, ":")+1:]
	return []string{"--set", fmt.Sprintf(`tools.%s.access.net=[{host="127.0.0.1",scheme="tcp",port=%s,allow=true}]`, tool, port)}
}

// exec runs an agent with these flags of accessc.
func (p *place) exec(flags []string, words ...string) string {
	p.Helper()
	return p.accessc(slices.Concat([]string{"exec"}, flags, words[:1], []string{"--"}, words[1:])...)
}

// global lays the packages of a publisher down as npm does for all projects of a user who has a prefix of his own,
// and has PATH name the agent's program.
func (p *place) global(program, publisher string) {
	p.Helper()
	from, _, _ := strings.Cut(program, "/"+publisher+"/")
	const to = "~/prefix/lib/node_modules/"
	p.copy(filepath.Join(from, publisher), to+publisher)
	rest, err := filepath.Rel(from, program)
	p.must(err)
	p.must(os.MkdirAll(p.file("~/prefix/bin"), 0o755))
	p.must(os.Symlink("../lib/node_modules/"+rest, p.file("~/prefix/bin/"+strings.TrimSuffix(filepath.Base(rest), ".js"))))
	p.env = append(p.env, "PATH="+p.file("~/prefix/bin")+":"+os.Getenv("PATH"))
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
		bash("cat docs/a .env; true"),
		bash("cat "+p.file("~/.ssh/id_rsa")+"; true"),
		model.Call("Read", map[string]any{"file_path": p.file(".env")}),
		model.Call("Write", map[string]any{"file_path": p.file("new"), "content": "x"}),
		model.Say("done"),
	)
	defer m.Close()
	p.env = append(p.env, "PATH="+p.file("~/.local/bin")+":"+os.Getenv("PATH"), "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=none")
	flags := append(p.agent("claude-code", "claude", m.URL), "--set", `tools.claude.access.env=[{name="ANTHROPIC_BASE_URL",read=true}]`)
	p.accessc("approve", "--yes", "preset:claude-code")
	p.exec(flags, "claude", "-p", "go", "--allowedTools", "Bash,Read,Write")
	p.hasResults(m.Results(), "text of docs/a", "Permission denied", "EACCES", "new")
	p.confined(m.Results())
	refused, _, probes := strings.Cut(p.accessc("denials", "claude"), "\nprobes, ")
	p.has(strings.SplitN(refused, "\n", 4)[2], ".env")
	if strings.Count(refused, "\n") > 10 || !probes {
		p.Errorf("what matters is hidden: %s", refused)
	}
}

// TestWholeCodex: the same for Codex, as npm installs it into a project. Its settings are in the home
// that is the tool's own.
func TestWholeCodex(t *testing.T) { users(t, wholeCodex) }

func wholeCodex(t *testing.T, nobody bool) {
	t.Parallel()
	program := installed(t, "@openai/codex/bin/codex.js")
	p := newWhole(t, nobody)
	p.global(program, "@openai")
	run := func(line string) model.Turn { return model.Call("exec_command", map[string]any{"cmd": line}) }
	m := model.Start(
		run("cat docs/a .env"),
		run("cat "+p.file("~/.ssh/id_rsa")),
		model.Call("apply_patch", "*** Begin Patch\n*** Add File: new\n+x\n*** End Patch\n"),
		model.Say("done"),
	)
	defer m.Close()
	flags := p.agent("codex", "codex", m.URL)
	p.accessc("approve", "--yes", p.file("~/prefix/lib/node_modules"))
	home := strings.TrimSpace(p.accessc("home", "path", "codex"))
	p.must(os.MkdirAll(home+"/.codex", 0o700))
	config := strings.Replace(codexConfig, `"KEY"`, `"CODEX_API_KEY"`, 1) + `"` + m.URL + "/v1\"\n"
	p.must(os.WriteFile(home+"/.codex/config.toml", []byte(config), 0o600))
	p.env = append(p.env, "CODEX_API_KEY=none")
	p.exec(flags, "codex", "exec", "--skip-git-repo-check", "go")
	p.hasResults(m.Results(), "text of docs/a", "Permission denied", "A new")
	p.confined(m.Results())
}

// TestWholeGemini: the same for Gemini CLI.
func TestWholeGemini(t *testing.T) { users(t, wholeGemini) }

func wholeGemini(t *testing.T, nobody bool) {
	t.Parallel()
	program := installed(t, "@google/gemini-cli/bundle/gemini.js")
	p := newWhole(t, nobody)
	p.global(program, "@google")
	flags := p.agent("gemini", "gemini", ":1") // its model is a file
	p.accessc("approve", "--yes", p.file("~/prefix/lib/node_modules"))
	p.write("model", gemini(
		call("run_shell_command", `{"command":"cat docs/a .env","description":"x"}`),
		call("run_shell_command", fmt.Sprintf(`{"command":"cat %s","description":"x"}`, p.file("~/.ssh/id_rsa"))),
		call("read_file", `{"file_path":".env"}`),
		call("write_file", `{"file_path":"new","content":"x"}`),
	))
	home := strings.TrimSpace(p.accessc("home", "path", "gemini"))
	p.must(os.MkdirAll(home+"/.gemini", 0o700))
	p.must(os.WriteFile(home+"/.gemini/settings.json", []byte(geminiSettings), 0o600))
	p.env = append(p.env, "GEMINI_API_KEY=none")
	out := p.exec(flags, "gemini", "--fake-responses-non-strict", "model", "--approval-mode", "yolo", "-o", "stream-json", "-p", "go")
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

// TestSharedLogin: with --login shared an agent has the user's login once it is approved, and without it none.
func TestSharedLogin(t *testing.T) {
	users(t, func(t *testing.T, nobody bool) {
		t.Parallel()
		claude, codex := installed(t, "@anthropic-ai/claude-code-linux-*/claude"), installed(t, "@openai/codex/bin/codex.js")
		p := newWhole(t, nobody)
		p.copy(claude, "~/.local/share/claude/versions/1")
		p.must(os.MkdirAll(p.file("~/.local/bin"), 0o755))
		p.must(os.Symlink("../share/claude/versions/1", p.file("~/.local/bin/claude")))
		p.global(codex, "@openai")
		p.env = append(p.env, "PATH="+p.file("~/prefix/bin")+":"+p.file("~/.local/bin")+":"+os.Getenv("PATH"))
		const token = `"accessToken":"sk-ant-oat01-x","refreshToken":"sk-ant-ort01-x","expiresAt":4102444800000,"scopes":["user:inference"]`
		p.write("~/.claude/.credentials.json", `{"claudeAiOauth":{`+token+`}}`)
		p.write("~/.codex/auth.json", `{"OPENAI_API_KEY":"sk-x"}`)
		p.accessc("init", "--agent", "claude-code", "--login", "shared")
		p.accessc("init", "--agent", "codex", "--login", "shared")
		p.accessc("approve", "--yes", "preset:claude-code", p.file("~/prefix/lib/node_modules"))
		status := func(want bool) {
			p.Helper()
			for agent, words := range map[string]string{"claude": "auth", "codex": "login"} {
				out, err := p.command(p.program, "exec", "--no-prompt", agent, "--", words, "status").CombinedOutput()
				if in := err == nil && (strings.Contains(string(out), `"loggedIn": true`) || strings.Contains(string(out), "API key configured")); in != want {
					p.Errorf("%s is logged in: %v, %v\n%s", agent, in, err, out)
				}
			}
		}
		status(false)
		p.accessc("approve", "--yes", p.file("~/.claude/.credentials.json"), p.file("~/.codex/auth.json"))
		status(true)
	})
}
