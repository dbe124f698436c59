package agents_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/agents/model"
)

// codexConfig is a user's configuration, up to the address of the model.
const codexConfig = `model = "gpt-5.5"
model_provider = "script"  # a comment

[model_providers.script]
name = "script"
wire_api = "responses"
env_key = "KEY"
base_url = `

// trust trusts the hooks as a user does by /hooks: it writes down their hashes, which Codex reports.
func (p *place) trust(program string) {
	p.Helper()
	server := p.command(program, "app-server")
	in, err := server.StdinPipe()
	p.must(err)
	out, err := server.StdoutPipe()
	p.must(err)
	p.must(server.Start())
	fmt.Fprintf(in, `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"test","version":"1"}}}
{"method":"initialized"}
{"id":2,"method":"hooks/list","params":{"cwds":[%q]}}
`, p.ws)
	var answer struct {
		ID     int
		Result struct {
			Data []struct {
				Hooks []struct{ Key, CurrentHash string }
			}
		}
	}
	for lines := json.NewDecoder(out); answer.ID != 2; {
		p.must(lines.Decode(&answer))
	}
	p.must(in.Close())
	_ = server.Wait()
	config := p.read("~/.codex/config.toml")
	for _, h := range answer.Result.Data[0].Hooks {
		config += fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = %q\n", h.Key, h.CurrentHash)
	}
	p.write("~/.codex/config.toml", config)
}

// TestCodexHook: once the user trusts the hook, the policy holds for the tools that the model has Codex
// use, and the model learns the reasons of refusals.
func TestCodexHook(t *testing.T) { users(t, codexHook) }

func codexHook(t *testing.T, nobody bool) {
	t.Parallel()
	program := installed(t, "@openai/codex-linux-*/vendor/*/bin/codex")
	p := newPlace(t, coder)
	p.nobody = nobody
	run := func(line string) model.Turn { return model.Call("exec_command", map[string]any{"cmd": line}) }
	patch := func(name string) string {
		return "*** Begin Patch\n*** Add File: " + name + "\n+x\n*** End Patch\n"
	}
	add := func(name string) model.Turn { return model.Call("apply_patch", patch(name)) }
	// Codex carries out such a line itself.
	line := func(name string) model.Turn { return run("apply_patch <<'E'\n" + patch(name) + "E\n") }
	m := model.Start(
		run("./report"),
		run("cat docs/a; rm -r docs"),
		run("cat docs/a | tee more"),
		add("docs/new"), add("other"), line("docs/newer"), line("other"),
		model.Call("view_image", map[string]any{"path": p.file("docs/secret")}),
		model.Call("exec_command", map[string]any{"cmd": "cat secret", "workdir": p.file("docs")}),
		model.Say("done"),
	)
	defer m.Close()
	uninstall := p.install("codex", "~/.codex/hooks.json", `{"description": "mine", "hooks": {"Stop": []}}`)
	p.write("~/.codex/config.toml", codexConfig+`"`+m.URL+"/v1\"\n")
	p.env = append(p.env, "KEY=none")
	if out, err := p.command(p.program, "hook", "doctor", "codex").Output(); err == nil || !strings.Contains(string(out), "trust") {
		t.Errorf("doctor does not miss the trust: %v\n%s", err, out)
	}
	p.trust(program)
	p.accessc("hook", "doctor", "codex")
	// Codex' own sandbox would have no room for another.
	p.run("", program, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go")
	p.hasResults(m.Results(), "cat: docs/secret: Permission denied", "nothing is removed here", "more",
		"A docs/new", "create other", "A docs/newer", "create other", "read docs/secret: rule docs/secret", "cat: secret: Permission denied")
	p.held(m.Results())
	p.has(m.Last(), "accessc refused this command 2 times")
	if got := p.read("docs/new") + p.read("docs/newer"); got != "x\nx\n" {
		t.Errorf("the patches wrote %q", got)
	}
	uninstall()
}
