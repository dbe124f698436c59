package codex

import (
	"os"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/text/strictjson"

	"github.com/accessc/accessc/internal/agents/claudecode"
	"github.com/accessc/accessc/internal/agents/hook"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/ruleset"
)

// hooks are the hooks of Codex, with the time limit of codex-rs/hooks/src/engine/discovery.rs (0.169).
var hooks = hook.Agent{
	Name: "codex", Title: "Codex", Default: 600 * time.Second, Tells: true, Tools: hookTools, Read: readEvent,
	Write: writeAnswer,
}

// hookForm is that of Codex' events (codex-rs/hooks/src/schema.rs, 0.169), after Claude Code's.
var hookForm = claudecode.HookForm.With(map[string]hook.Stage{"PreToolUse": hook.Before,
	"PermissionRequest": hook.Permission, "PostToolUse": hook.After})

// hookTools are the tools of Codex, which names each one that runs a shell Bash.
var hookTools = hook.Plain(map[string]hook.Tool{
	"Bash": hook.ShellTool("command"), "apply_patch": hook.Patches("command"), "view_image": hook.Reads("path"),
}, "update_plan", "request_user_input", "spawn_agent", "send_input", "wait", "wait_agent", "close_agent",
	"resume_agent")

// readEvent reads an event. A hook that answers "ask", or "allow" without another input, has failed
// for Codex, and the tool is used (codex-rs/hooks/src/engine/output_parser.rs): so this agent is
// never asked to ask.
func readEvent(a *hook.Agent, v strictjson.Value) (*hook.Event, error) {
	e, m, err := hookForm.Call(a, v)
	if err != nil {
		return nil, err
	}
	if text, is := patchCommand(e.Call.Line); is {
		if e.Call, err = (hook.Call{Tool: "apply_patch", What: hook.Patch, Kind: ruleset.Edit,
			Input: e.Call.Input}).Patch(text); err != nil {
			return nil, err
		}
	}
	// Codex asks a person where the hook does not answer.
	e.Rewrites, e.Asks, e.Project = e.Stage == hook.Before, e.Stage == hook.Permission,
		sessionDir(m["transcript_path"].Str)
	e.Chosen = e.Project == ""
	return e, nil
}

// sessionDir is the directory that a session was started in, by the first line of its record; empty
// if there is none. The directory of an event is the one that the model has chosen for a command.
func sessionDir(record string) string {
	f, err := os.Open(record)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, long, err := jsonrpc.NewReader(f, hook.MaxEvent).Next()
	if err != nil || long != nil || strictjson.Raw(line).Get("type").Str != "session_meta" {
		return ""
	}
	return strictjson.Raw(line).Get("payload", "cwd").Str
}

// patchStart begins a command that Codex carries out itself.
const patchStart = "apply_patch <<'"

// patchCommand is the patch in a command that no shell runs, since Codex carries it out: one start of
// apply_patch with a quoted here-document, and nothing else.
func patchCommand(line string) (string, bool) {
	rest, is := strings.CutPrefix(line, patchStart)
	end, document, quoted := strings.Cut(rest, "'\n")
	if !is || !quoted || end == "" || strings.Trim(end, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
		return "", false
	}
	// The document ends at the first line that is the word.
	text, after, ended := strings.Cut("\n"+strings.TrimSuffix(document, "\n")+"\n", "\n"+end+"\n")
	return text, ended && after == ""
}

func writeAnswer(e *hook.Event, a *hook.Answer) any {
	switch {
	case e.Stage == hook.Before && a.Outcome == hook.Deny, e.Stage == hook.After:
		return claudecode.WriteAnswer(e, a)
	case e.Stage == hook.Before && a.Command != "":
		return claudecode.HookAnswer{Output: &claudecode.HookOutput{Event: e.Name, Decision: hook.Allow.String(),
			Input: a.Input(e)}}
	case e.Stage == hook.Permission && (a.Outcome == hook.Deny || a.Outcome == hook.Allow && a.Held):
		return claudecode.HookAnswer{Output: &claudecode.HookOutput{Event: e.Name,
			Request: &claudecode.RequestOutcome{Behavior: a.Outcome.String(), Message: a.Refusal()}}}
	default:
		return claudecode.HookAnswer{}
	}
}
