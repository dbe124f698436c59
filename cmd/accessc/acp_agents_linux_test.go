package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exampleAgent is installed as the published servers are.
const exampleAgent = "@agentclientprotocol/sdk/dist/examples/agent.js"

// agentFile is the script of a published agent.
func agentFile(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(servers, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Skipf("needs %s in .cache/npm", name)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node")
	}
	return file
}

// TestExampleAgent: the example of the protocol's own kit asks to change a file outside of the
// workspace, and in one call names two of them. Where the policy refuses, its client is not asked,
// and the agent goes on.
func TestExampleAgent(t *testing.T) {
	agent := agentFile(t, exampleAgent)
	accessc, err := exec.LookPath("accessc")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "accessc.toml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	const asked = "session/request_permission"
	direct := takeTurn(t, dir, nil, "node", agent)
	if !strings.Contains(strings.Join(direct, "\n"), asked) {
		t.Fatalf("the agent asked for nothing: %q", direct)
	}
	proxied := takeTurn(t, dir, nil, accessc, "acp", "--", "node", agent)
	if n := len(proxied); n == 0 || proxied[n-1] != "end_turn" {
		t.Errorf("the turn ended otherwise: %q", proxied)
	}
	// Both were refused, by the client and by the policy.
	without := slices.DeleteFunc(direct, func(s string) bool { return strings.HasPrefix(s, asked) })
	if !slices.Equal(without, proxied) {
		t.Errorf("got %q, want %q", proxied, without)
	}
}

// geminiPolicy is the workspace of TestGemini.
const geminiPolicy = `[tools.coder]
source = "local"
command = "true"
access.fs = [{ path = "src", read = true, write = true }]
access.commands.git = {}
`

// TestGemini: a real agent, whose model is a file of answers, writes where the policy lets it
// without asking, is refused elsewhere, and has its client asked where no policy decides.
func TestGemini(t *testing.T) {
	agent := agentFile(t, "@google/gemini-cli/bundle/gemini.js")
	accessc, err := exec.LookPath("accessc")
	if err != nil {
		t.Fatal(err)
	}
	dir, home := t.TempDir(), t.TempDir()
	var model strings.Builder
	for _, part := range []string{
		`{"functionCall":{"name":"run_shell_command","args":{"command":"touch made","description":"x"}}}`,
		`{"functionCall":{"name":"write_file","args":{"file_path":"` + dir + `/src/new","content":"x"}}}`,
		`{"functionCall":{"name":"write_file","args":{"file_path":"` + dir + `/other","content":"x"}}}`,
		`{"functionCall":{"name":"run_shell_command","args":{"command":"git --version","description":"x"}}}`,
		`{"text":"done"}`,
	} {
		fmt.Fprintf(&model, `{"method":"generateContentStream","response":[{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":"STOP","index":0}]}]}`+"\n", part)
	}
	for file, text := range map[string]string{
		dir + "/accessc.toml": geminiPolicy, dir + "/src/old": "", home + "/model": model.String(),
		home + "/.gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},"telemetry":{"enabled":false},"privacy":{"usageStatisticsEnabled":false}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	heard := takeTurn(t, dir, []string{"HOME=" + home, "GEMINI_API_KEY=none"},
		accessc, "acp", "--tool", "coder", "--", "node", agent, "--acp", "--fake-responses-non-strict", home+"/model")
	var asked []string
	for _, s := range heard {
		if title, ok := strings.CutPrefix(s, "session/request_permission "); ok {
			asked = append(asked, title)
		}
	}
	if !slices.Equal(asked, []string{"git --version"}) || heard[len(heard)-1] != "end_turn" {
		t.Errorf("the client was asked for %q, and heard %q", asked, heard)
	}
	for name, want := range map[string]bool{"src/new": true, "other": false, "made": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// takeTurn has an agent take one turn, refuses what it asks for, and returns the methods, titles and
// updates that it sent, and why the turn ended.
func takeTurn(t *testing.T, dir string, env []string, words ...string) []string {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	cmd.Env = append(cmd.Env, env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", dir)
	var heard []string
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the agent has ended after %q: %v", heard, err)
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Update   struct{ SessionUpdate string }
				ToolCall struct{ Title string }
				Options  []struct{ OptionID, Kind string }
			}
			Result struct{ SessionID, StopReason string }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		switch {
		case m.Result.SessionID != "":
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"x"}]}}`+"\n", m.Result.SessionID)
		case m.Result.StopReason != "":
			return append(heard, m.Result.StopReason)
		case m.Method == "session/request_permission":
			for _, o := range m.Params.Options {
				if o.Kind == "reject_once" {
					fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`+"\n", m.ID, o.OptionID)
				}
			}
			heard = append(heard, m.Method+" "+m.Params.ToolCall.Title)
		case m.Method != "":
			heard = append(heard, strings.TrimSpace(m.Method+" "+m.Params.Update.SessionUpdate))
		}
	}
}
