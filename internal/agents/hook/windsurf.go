package hook

import (
	"fmt"
	"os"

	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ruleset"
)

// windsurfTools are the tools of Windsurf by the events that ask about them
// (docs.windsurf.com/windsurf/cascade/hooks).
var windsurfTools = map[string]tool{
	"pre_run_command": shellTool("command_line", "cwd"), "pre_write_code": edits("file_path"),
	// The path of a directory stands for the files below it.
	"pre_read_code":    {what: Files, kind: ruleset.Read, members: []string{"file_path"}, content: true},
	"pre_mcp_tool_use": {what: Server, kind: ruleset.Other},
}

// readWindsurf reads an event of Windsurf, which starts its hooks in the workspace. A hook can
// refuse there and nothing else.
func readWindsurf(_ *Agent, v strictjson.Value) (*Event, error) {
	m, err := jsonrpc.Members(v, "agent_action_name", "trajectory_id", "tool_info")
	if err != nil {
		return nil, err
	}
	e := &Event{Name: m["agent_action_name"].Str, Stage: Before, Session: m["trajectory_id"].Str, ID: m["execution_id"].Str}
	t, known := windsurfTools[e.Name]
	if !known {
		return nil, fmt.Errorf("%q is no event that asks about a tool", e.Name)
	}
	if e.Dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	info, err := jsonrpc.Members(m["tool_info"], append(t.members, "cwd", "mcp_server_name", "mcp_tool_name", "mcp_tool_arguments")...)
	if err != nil {
		return nil, fmt.Errorf("the tool_info: %w", err)
	}
	e.Call = Call{Tool: e.Name, What: t.what, Kind: t.kind, Content: t.content, Input: m["tool_info"]}
	if t.what == Server {
		e.Call.Server, e.Call.Method, e.Call.Input = info["mcp_server_name"].Str, info["mcp_tool_name"].Str, info["mcp_tool_arguments"]
		return e, nil
	}
	e.Call, err = e.Call.members(t, info)
	return e, err
}

// writeWindsurf writes nothing: the reason is on standard error, and the refusal the exit status.
func writeWindsurf(*Event, *Answer) any { return nil }
