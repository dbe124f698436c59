package windsurf

import (
	"fmt"
	"os"

	"github.com/accessc/accessc/internal/text/strictjson"

	"github.com/accessc/accessc/internal/agents/hook"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/ruleset"
)

// hooks are the hooks of Windsurf. docs.windsurf.com/windsurf/cascade/hooks names no time limit.
var hooks = hook.Agent{Name: "windsurf", Title: "Windsurf", Read: readEvent, Write: writeAnswer, Status: hook.Blocks}

// hookTools are the tools of Windsurf by the events that ask about them
// (docs.windsurf.com/windsurf/cascade/hooks).
var hookTools = map[string]hook.Tool{
	"pre_run_command": hook.ShellTool("command_line", "cwd"), "pre_write_code": hook.Edits("file_path"),
	// The path of a directory stands for the files below it.
	"pre_read_code":    {What: hook.Files, Kind: ruleset.Read, Members: []string{"file_path"}, Content: true},
	"pre_mcp_tool_use": {What: hook.Server, Kind: ruleset.Other},
}

// readEvent reads an event of Windsurf, which starts its hooks in the workspace. A hook can
// refuse there and nothing else.
func readEvent(_ *hook.Agent, v strictjson.Value) (*hook.Event, error) {
	m, err := jsonrpc.Members(v, "agent_action_name", "trajectory_id", "tool_info")
	if err != nil {
		return nil, err
	}
	e := &hook.Event{Name: m["agent_action_name"].Str, Stage: hook.Before, Session: m["trajectory_id"].Str,
		ID: m["execution_id"].Str}
	t, known := hookTools[e.Name]
	if !known {
		return nil, fmt.Errorf("%q is no event that asks about a tool", e.Name)
	}
	if e.Dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	info, err := jsonrpc.Members(m["tool_info"],
		append(t.Members, "cwd", "mcp_server_name", "mcp_tool_name", "mcp_tool_arguments")...)
	if err != nil {
		return nil, fmt.Errorf("the tool_info: %w", err)
	}
	e.Call = hook.Call{Tool: e.Name, What: t.What, Kind: t.Kind, Content: t.Content, Input: m["tool_info"]}
	if t.What == hook.Server {
		e.Call.Server, e.Call.Method, e.Call.Input = info["mcp_server_name"].Str, info["mcp_tool_name"].Str,
			info["mcp_tool_arguments"]
		return e, nil
	}
	e.Call, err = e.Call.Members(t, info)
	return e, err
}

// writeAnswer writes nothing: the reason is on standard error, and the refusal the exit status.
func writeAnswer(*hook.Event, *hook.Answer) any { return nil }
