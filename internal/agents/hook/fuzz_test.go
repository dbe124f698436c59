package hook

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/gate/judge"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/gate/mcp"
	"github.com/accessc/accessc/ir"
)

// closed is a policy that grants nothing.
func closed() *Policy {
	roots := &ir.Bindings{Workspace: "/nowhere/at/all"}
	view := ir.NewView(&ir.Tool{Name: "t", Declared: ir.Declared{FS: true, Net: true}}, ir.Linux, ir.Facts{Bindings: roots, Base: []ir.FSRule{}})
	files := &judge.Judge{View: view, Roots: roots, Dir: roots.Workspace}
	of := &mcp.Policy{Judge: files, Commands: &action.Judge{Files: files}}
	return &Policy{
		Judge:     &action.Judge{Files: files},
		Undecided: UndecidedConfined,
		Refuses:   func(c *Call) (string, string) { return of.Refusal(c.Method, c.Input) },
		Wrap:      &Wrap{Start: []string{"/bin/accessc", "exec"}, Shell: []string{"bash", "-c", "--"}, Reports: "/r"},
	}
}

// FuzzEvent: the answer to every input is one JSON document, and a policy that grants nothing
// permits no operation that it judges, and no command as it is.
func FuzzEvent(f *testing.F) {
	for _, seed := range []string{
		`{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`,
		`{"session_id":"s","cwd":"/w","hook_event_name":"PermissionRequest","tool_name":"apply_patch","tool_input":{"command":"*** Add File: x"}}`,
		`{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"glob","tool_input":{"dir_path":null},"mcp_context":{}}`,
		`{"conversation_id":"s","workspace_roots":["/w"],"hook_event_name":"preToolUse","tool_name":"Read","tool_input":{"path":["a"]}}`,
		`{"conversation_id":"s","workspace_roots":["/w"],"hook_event_name":"beforeMCPExecution","tool_name":"x","tool_input":"{}"}`,
		`{"sessionId":"s","cwd":"/w","toolName":"apply_patch","toolArgs":"*** Move to: x"}`,
		`{"event":"before","sessionID":"s","cwd":"/w","tool":"webfetch","args":{"url":"memo://x"}}`,
		`{"agent_action_name":"pre_run_command","tool_info":{"command_line":"ls"}}`,
	} {
		for i := range Agents {
			f.Add(uint8(i), seed)
		}
	}
	p := closed()
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		a := Agents[int(which)%len(Agents)]
		e, err := a.Event(strings.NewReader(text))
		if err != nil {
			if r := a.Fail(err.Error()); r.Status != Blocks || r.Err == "" {
				t.Fatalf("%s: %q is refused by %+v", a.Name, text, r)
			}
			return
		}
		if e.Stage == After {
			return
		}
		ans := p.Answer(a, e)
		switch e.Call.What {
		case Files, Patch, Address:
			if ans.Outcome != Deny {
				t.Fatalf("%s: %q: %+v", a.Name, text, ans)
			}
		case Shell:
			if ans.Outcome == Allow && ans.Command == "" && !ans.Held {
				t.Fatalf("%s: %q runs as it is: %+v", a.Name, text, ans)
			}
		case Server, Nothing, Unknown:
			if ans.Outcome == Allow {
				t.Fatalf("%s: %q: %+v", a.Name, text, ans)
			}
		}
		r := a.Reply(e, ans)
		if len(r.Out) > 0 && (!json.Valid(r.Out) || bytes.Count(r.Out, []byte("\n")) != 1) {
			t.Fatalf("%s: %q is answered by %q", a.Name, text, r.Out)
		}
	})
}
