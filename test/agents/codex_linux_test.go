package agents_test

import (
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

// TestCodexHook: the policy holds what Codex is told to do, and the model learns why. Codex runs a
// hook that its user has trusted; the flag does that for one run.
func TestCodexHook(t *testing.T) { users(t, codexHook) }

func codexHook(t *testing.T, nobody bool) {
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
	p.run("", program, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "go")
	p.hasResults(m.Results(), "cat: docs/secret: Permission denied", "nothing is removed here", "more",
		"A docs/new", "create other", "read docs/secret: rule docs/secret", "cat: secret: Permission denied")
	p.held(m.Results())
	p.has(m.Last(), "accessc refused this command 2 times")
	if p.read("docs/new") != "x\n" {
		t.Error("docs/new was not written")
	}
	uninstall()
}
