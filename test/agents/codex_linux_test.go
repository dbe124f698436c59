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

// trust does what a user does by /hooks: it writes down the hashes that Codex says its hooks have.
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

// TestCodexHook: the policy holds what Codex is told to do once its user has trusted the hook, and the
// model learns why.
func TestCodexHook(t *testing.T) { users(t, codexHook) }

func codexHook(t *testing.T, nobody bool) {
	t.Parallel()
	program := installed(t, "@openai/codex-linux-*/vendor/*/bin/codex")
	p := newPlace(t, coder)
	p.nobody = nobody
	run := func(line string) model.Turn { return model.Call("exec_command", map[string]any{"cmd": line}) }
	add := func(name string) model.Turn {
		return model.Call("apply_patch", "*** Begin Patch\n*** Add File: "+name+"\n+x\n*** End Patch\n")
	}
	m := model.Start(
		run("./report"),
		run("cat docs/a; rm -r docs"),
		run("cat docs/a | tee more"),
		add("docs/new"), add("other"),
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
		"A docs/new", "create other", "read docs/secret: rule docs/secret", "cat: secret: Permission denied")
	p.held(m.Results())
	p.has(m.Last(), "accessc refused this command 2 times")
	if p.read("docs/new") != "x\n" {
		t.Error("docs/new was not written")
	}
	uninstall()
}
