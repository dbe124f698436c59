package hook

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// said is the decision in an answer, whichever agent it is for.
func said(out []byte) string {
	for _, path := range []string{"decision", "permission", "permissionDecision", "hookSpecificOutput.permissionDecision", "hookSpecificOutput.decision.behavior"} {
		if v := gjson.GetBytes(out, path); v.Type == gjson.String {
			return v.Str
		}
	}
	return ""
}

// events are one event of each stage and form of each agent, about a command.
func events(t *testing.T) map[*Agent][]*Event {
	t.Helper()
	claude := `{"session_id":"s","cwd":"/w","hook_event_name":"%","tool_name":"Bash","tool_input":{"command":"x","n":1}}`
	forms := map[string][]string{
		"claude-code": {strings.Replace(claude, "%", "PreToolUse", 1)},
		"codex":       {strings.Replace(claude, "%", "PreToolUse", 1), strings.Replace(claude, "%", "PermissionRequest", 1)},
		"copilot":     {`{"sessionId":"s","cwd":"/w","toolName":"bash","toolArgs":{"command":"x"}}`},
		"cursor": {
			`{"conversation_id":"s","cwd":"/w","hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":"x"}}`,
			`{"conversation_id":"s","cwd":"/w","hook_event_name":"beforeShellExecution","command":"x"}`,
		},
		"gemini":   {`{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"x"}}`},
		"opencode": {`{"event":"before","sessionID":"s","cwd":"/w","tool":"bash","args":{"command":"x"}}`},
		"windsurf": {`{"agent_action_name":"pre_run_command","trajectory_id":"s","tool_info":{"command_line":"x"}}`},
	}
	out := map[*Agent][]*Event{}
	for _, a := range Agents {
		for _, text := range forms[a.Name] {
			e, err := a.Event(strings.NewReader(text))
			if err != nil {
				t.Fatalf("%s: %v", a.Name, err)
			}
			out[a] = append(out[a], e)
		}
	}
	return out
}

// TestReplies: every agent gets only the words that mean the verdict to it. The effects of
// the others are measured: Codex goes on after "ask", after "allow" alone and after an unknown member; Gemini CLI waits for ever
// after "ask"; Cursor's preToolUse takes "ask" for "allow".
func TestReplies(t *testing.T) {
	for a, all := range events(t) {
		for _, e := range all {
			for _, out := range []Outcome{Allow, Pass, Ask, Deny} {
				for _, command := range []string{"", "new"} {
					if command != "" && (!e.Rewrites || out == Deny || out == Pass) {
						continue
					}
					r := a.Reply(e, a.Settle(e, Answer{Outcome: out, Reason: "why", Command: command}))
					word, where := said(r.Out), a.Name+" "+e.Name+" "+out.String()
					refused := word == "deny" || a.Name == "windsurf" && r.Status == Blocks
					switch {
					case out == Pass && word == "allow" && e.Stage == Before && a.Name != "opencode": // whose plugin is accessc's own
						t.Errorf("%s: no objection is %s", where, r.Out)
					case out == Deny && !refused:
						t.Errorf("%s: a refusal is %s", where, r.Out)
					case out == Ask && command == "" && word != "ask" && !refused && e.Name != "PermissionRequest":
						t.Errorf("%s: a question is %s", where, r.Out)
					case word == "ask" && slices.Contains([]string{"codex", "gemini", "opencode", "windsurf"}, a.Name), word == "ask" && e.Name == "preToolUse" && a.Name == "cursor":
						t.Errorf("%s: the agent does not ask: %s", where, r.Out)
					case a.Name == "codex" && e.Stage == Before && (word == "allow") != (command != ""):
						t.Errorf("%s: %s fails", where, r.Out)
					case command != "" && !strings.Contains(string(r.Out), `"command":"new"`):
						t.Errorf("%s: the command is not rewritten: %s", where, r.Out)
					case len(r.Out) > 0 && !json.Valid(r.Out):
						t.Errorf("%s: %s", where, r.Out)
					}
				}
			}
		}
		if r := a.Fail("why"); r.Status != Blocks || r.Err == "" || a.Name != "windsurf" && said(r.Out) != "deny" {
			t.Errorf("%s: a failure is %+v", a.Name, r)
		}
		if a.Deadline() > a.Default/2 && a.Default > 0 || a.Deadline() > Limit/2 {
			t.Errorf("%s: the deadline is %s", a.Name, a.Deadline())
		}
	}
}

// TestRewritten: all of a call but the command stays as it was, byte by byte.
func TestRewritten(t *testing.T) {
	a, _ := Find("claude-code")
	input := `{ "timeout" : 1.50, "command":"x","d\u00e9":{"a":[1, 2]},"run_in_background":true}`
	e, err := a.Event(strings.NewReader(`{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":` + input + `}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"timeout":1.50,"command":"\"a\"\n","d\u00e9":{"a":[1, 2]},"run_in_background":true}`
	if got := string(e.Call.rewritten("\"a\"\n")); got != want {
		t.Errorf("got %s", got)
	}
}
