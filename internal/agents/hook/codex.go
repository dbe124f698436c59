package hook

import (
	"os"
	"strings"

	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ruleset"
)

// codexForm is that of Codex' events (codex-rs/hooks/src/schema.rs, 0.169), after Claude Code's.
var codexForm = claudeForm.with(map[string]Stage{"PreToolUse": Before, "PermissionRequest": Permission, "PostToolUse": After})

// codexTools are the tools of Codex, which names each one that runs a shell Bash.
var codexTools = plain(map[string]tool{
	"Bash": shellTool("command"), "apply_patch": patches("command"), "view_image": reads("path"),
}, "update_plan", "request_user_input", "spawn_agent", "send_input", "wait", "wait_agent", "close_agent", "resume_agent")

// readCodex reads an event. A hook that answers "ask", or "allow" without another input, has failed
// for Codex, and the tool is used (codex-rs/hooks/src/engine/output_parser.rs): so this agent is
// never asked to ask.
func readCodex(a *Agent, v strictjson.Value) (*Event, error) {
	e, m, err := codexForm.call(a, v)
	if err != nil {
		return nil, err
	}
	if text, is := patchCommand(e.Call.Line); is {
		if e.Call, err = (Call{Tool: "apply_patch", What: Patch, Kind: ruleset.Edit, Input: e.Call.Input}).patch(text); err != nil {
			return nil, err
		}
	}
	// Codex asks a person where the hook does not answer.
	e.Rewrites, e.Asks, e.Project = e.Stage == Before, e.Stage == Permission, codexProject(m["transcript_path"].Str)
	e.Chosen = e.Project == ""
	return e, nil
}

// codexProject is the directory that a session was started in, by the first line of its record; empty
// if there is none. The directory of an event is the one that the model has chosen for a command.
func codexProject(record string) string {
	f, err := os.Open(record)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, long, err := jsonrpc.NewReader(f, maxEvent).Next()
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

// requestOutcome answers a question that a person would be asked.
type requestOutcome struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

func writeCodex(e *Event, a *Answer) any {
	switch {
	case e.Stage == Before && a.Outcome == Deny, e.Stage == After:
		return writeClaude(e, a)
	case e.Stage == Before && a.Command != "":
		return claudeAnswer{&claudeOutput{Event: e.Name, Decision: Allow.String(), Input: a.input(e)}}
	case e.Stage == Permission && (a.Outcome == Deny || a.Outcome == Allow && a.Held):
		return claudeAnswer{&claudeOutput{Event: e.Name, Request: &requestOutcome{a.Outcome.String(), a.refusal()}}}
	default:
		return claudeAnswer{}
	}
}
