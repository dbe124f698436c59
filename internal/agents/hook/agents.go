package hook

import (
	"cmp"
	"slices"
	"time"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// Limit is the time limit that the settings of an agent give to the hook.
const Limit = 30 * time.Second

// Agent is a program whose hooks are answered.
type Agent struct {
	// Name is the word of the command line, Title that of the agent's makers.
	Name, Title string
	// Default is the agent's time limit for a hook whose settings name none; zero where the agent
	// documents none.
	Default time.Duration
	// Tells says whether a hook is told of used tools.
	Tells bool

	// tools are the agent's tools by name, others reads the ones of servers.
	tools map[string]tool
	// read reads an event, write is the document of an answer, nil for none.
	read  func(a *Agent, v strictjson.Value) (*Event, error)
	write func(e *Event, a *Answer) any
	// status is the exit status of a refusal that was read as an answer.
	status int
}

// Agents are all agents, by name. The limits are those of:
// code.claude.com/docs/en/hooks (2.1.330); codex-rs/hooks/src/engine/discovery.rs (0.169);
// docs.github.com/en/copilot/reference/hooks-reference; google-gemini/gemini-cli
// docs/hooks/reference.md (0.61). cursor.com/docs/hooks and docs.windsurf.com/windsurf/cascade/hooks name
// none, and the plugin of opencode is accessc's own.
var Agents = []*Agent{
	{Name: "claude-code", Title: "Claude Code", Default: 600 * time.Second, Tells: true, tools: claudeTools, read: readClaude, write: writeClaude},
	{Name: "codex", Title: "Codex", Default: 600 * time.Second, Tells: true, tools: codexTools, read: readCodex, write: writeCodex},
	{Name: "copilot", Title: "Copilot CLI", Default: 30 * time.Second, Tells: true, tools: copilotTools, read: readCopilot, write: writeCopilot},
	{Name: "cursor", Title: "Cursor", Tells: true, tools: cursorTools, read: readCursor, write: writeCursor},
	{Name: "gemini", Title: "Gemini CLI", Default: 60 * time.Second, Tells: true, tools: geminiTools, read: readGemini, write: writeGemini},
	{Name: "opencode", Title: "opencode", Tells: true, tools: opencodeTools, read: readOpencode, write: writeOpencode},
	{Name: "windsurf", Title: "Windsurf", read: readWindsurf, write: writeWindsurf, status: blocks},
}

// blocks is the exit status by which a hook refuses, regardless of its output. All agents above take
// it so; the plugin of opencode takes every status but 0 so.
const blocks = 2

// Deadline is the time after which the hook refuses: half of the agent's limit, after which most agents
// go on.
func (a *Agent) Deadline() time.Duration { return min(Limit, cmp.Or(a.Default, Limit)) / 2 }

// Find returns the agent of a name.
func Find(name string) (*Agent, bool) {
	i := slices.IndexFunc(Agents, func(a *Agent) bool { return a.Name == name })
	if i < 0 {
		return nil, false
	}
	return Agents[i], true
}

// Names are the names of all agents.
func Names() []string {
	out := make([]string, 0, len(Agents))
	for _, a := range Agents {
		out = append(out, a.Name)
	}
	return out
}
