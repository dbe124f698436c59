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

// exampleAgent is looked for, as the published servers are:
//
//	npm install --prefix .cache/npm --ignore-scripts @agentclientprotocol/sdk@1.0.0
const exampleAgent = "@agentclientprotocol/sdk/dist/examples/agent.js"

// TestExampleAgent: the example of the protocol's own kit asks to change a file outside of the
// workspace, and in one call names two of them. Where the policy refuses, its client is not asked,
// and the agent goes on; where it does not decide, the client's answer reaches the agent.
func TestExampleAgent(t *testing.T) {
	agent, err := filepath.Abs(filepath.Join(servers, exampleAgent))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(agent); err != nil {
		t.Skip("needs @agentclientprotocol/sdk in .cache/npm")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node")
	}
	accessc, err := exec.LookPath("accessc")
	if err != nil {
		t.Fatal(err)
	}
	direct := takeTurn(t, "node", agent)
	if !slices.Contains(direct, "session/request_permission") {
		t.Fatalf("the agent asked for nothing: %q", direct)
	}
	proxied := takeTurn(t, accessc, "acp", "--", "node", agent)
	if slices.Contains(proxied, "session/request_permission") {
		t.Errorf("the client was asked: %q", proxied)
	}
	if n := len(proxied); n == 0 || proxied[n-1] != "end_turn" {
		t.Errorf("the turn ended otherwise: %q", proxied)
	}
	// Both were refused, by the client and by the policy.
	without := slices.DeleteFunc(direct, func(s string) bool { return s == "session/request_permission" })
	if !slices.Equal(without, proxied) {
		t.Errorf("got %q, want %q", proxied, without)
	}
}

// takeTurn has an agent take one turn, refuses what it asks for, and returns the methods and
// updates that it sent, and why the turn ended.
func takeTurn(t *testing.T, words ...string) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "accessc.toml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
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
				Update struct{ SessionUpdate string }
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
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"reject"}}}`+"\n", m.ID)
			heard = append(heard, m.Method)
		case m.Method != "":
			heard = append(heard, strings.TrimSpace(m.Method+" "+m.Params.Update.SessionUpdate))
		}
	}
}
