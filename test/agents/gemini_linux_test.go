package agents_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// geminiSettings let Gemini CLI run without a login.
const geminiSettings = `{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "telemetry": {"enabled": false}, "privacy": {"usageStatisticsEnabled": false}}
`

// gemini is a script for Gemini CLI, which takes its model's part from a file.
func gemini(calls ...string) string {
	var out strings.Builder
	for _, part := range append(calls, `{"text":"done"}`) {
		fmt.Fprintf(&out, `{"method":"generateContentStream","response":[{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":"STOP","index":0}]}]}`+"\n", part)
	}
	return out.String()
}

// call is a call of a tool in Gemini's protocol.
func call(tool, args string) string {
	return fmt.Sprintf(`{"functionCall":{"name":%q,"args":%s}}`, tool, args)
}

// TestGeminiHook: the policy holds for the tools that the model has Gemini CLI use.
func TestGeminiHook(t *testing.T) {
	t.Parallel()
	program := installed(t, "@google/gemini-cli/bundle/gemini.js")
	p := newPlace(t, coder)
	uninstall := p.install("gemini", "~/.gemini/settings.json", geminiSettings)
	p.write("~/model", gemini(
		call("run_shell_command", `{"command":"./report","description":"x"}`),
		call("run_shell_command", `{"command":"cat docs/a; rm -r docs","description":"x"}`),
		call("run_shell_command", `{"command":"cat secret","description":"x","dir_path":"docs"}`),
		call("write_file", `{"file_path":"docs/new","content":"x"}`),
		call("write_file", `{"file_path":"other","content":"x"}`),
		call("read_file", `{"file_path":"docs/secret"}`),
	))
	p.env = append(p.env, "GEMINI_API_KEY=none")
	// In this form of output the results are those that the model gets.
	out := p.run("", "node", program, "--fake-responses-non-strict", p.file("~/model"), "--approval-mode", "yolo", "-o", "stream-json", "-p", "go")
	var results []string
	for line := range strings.Lines(out) {
		var event struct{ Type, Output string }
		if json.Unmarshal([]byte(line), &event) == nil && event.Type == "tool_result" {
			results = append(results, event.Output)
		}
	}
	p.hasResults(results, "cat: docs/secret: Permission denied", "nothing is removed here", "cat: secret: Permission denied",
		"", "create other", "read docs/secret: rule docs/secret")
	p.held(results)
	if p.read("docs/new") != "x" {
		t.Error("docs/new was not written")
	}
	uninstall()
}
