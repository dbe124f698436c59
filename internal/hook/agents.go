// Package hook answers the hooks by which agents ask before they use a tool. Each agent has its own
// form of event and answer, in a file of its own; all of them are judged by one judge.
//
// Every answer that is no permission is a refusal: an event that cannot be read, a policy that
// cannot be had, an answer that comes too late.
package hook

import (
	"slices"
	"time"
)

// Limit is the time limit that the settings of an agent give to the hook. No agent's own default is
// shorter; Deadline is half of it, at which the hook refuses, for after the limit most agents go on.
const (
	Limit    = 30 * time.Second
	Deadline = Limit / 2
)

// Agent is a program whose hooks are answered.
type Agent struct {
	// Name is the word of the command line, Title that of the agent's makers.
	Name, Title string
	// Default is the agent's time limit for hooks whose settings name none; zero means that the
	// settings always do.
	Default time.Duration
}

// Agents are all agents, by name.
var Agents = []*Agent{
	{Name: "claude-code", Title: "Claude Code", Default: 600 * time.Second}, // code.claude.com/docs/en/hooks, 2.1.330
	{Name: "codex", Title: "Codex", Default: 600 * time.Second},             // codex-rs/hooks/src/engine/discovery.rs, 0.169
	{Name: "copilot", Title: "Copilot CLI", Default: 30 * time.Second},      // docs.github.com/copilot/reference/hooks-reference
	{Name: "cursor", Title: "Cursor", Default: 60 * time.Second},            // cursor.com/docs/hooks
	{Name: "gemini", Title: "Gemini CLI", Default: 60 * time.Second},        // docs/hooks/reference.md, 0.61
	{Name: "opencode", Title: "opencode"},                                   // the plugin sets it
	{Name: "windsurf", Title: "Windsurf"},                                   // docs.windsurf.com/windsurf/cascade/hooks names none
}

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
