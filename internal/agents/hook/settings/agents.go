package settings

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/internal/agents/hook"
)

// Agent is an agent whose settings are known. The version of each that its files were looked up for is that of its
// hooks.
type Agent struct {
	*hook.Agent
	// Home is the directory of settings in the user's home, project the one in a workspace. A
	// variable names another place than home, below which the directory is under.
	Home, Variable, Under, Project string
	// File is the file that has the hooks, in the directory.
	File string
	// Events are the events that hooks are for.
	Events []Event
	// Grouped is true where hooks stand in groups that have a matcher.
	Grouped bool
	// Version is the number that the document must have, 0 for none.
	Version int
	// Handler is the hook itself for an event.
	Handler func(e Entry, words []string, ev Event) Handler
	// Plugin is the text of the hook where that is a program, with COMMAND and LIMIT in it.
	Plugin []byte
	// Step is the user's task after an installation, empty for none.
	Step string
	// Box is the user's choice between the agent's own sandbox and accessc's, empty without any, and boxed the setting
	// that switches that sandbox on.
	Box   string
	Boxed Toggle
	// Program is the agent's own.
	Program string

	// ManagedDir is the directory of the settings that administrators make; managed, user and projects are the files of
	// settings that the agent reads there, in the user's directory, and in a workspace.
	ManagedDir                            Systems
	ManagedFiles, UserFiles, ProjectFiles []string
	// Toggles are settings that switch the hook off or have the agent ask for nothing, envs are such variables.
	Toggles  []Toggle
	Switches []string
	// CommandKeys are settings whose value is a command that the agent starts by itself, plugins those that name
	// plugins, and sets is the setting that sets variables.
	CommandKeys, PluginKeys []string
	VariablesKey            string
	// Heads are the texts beside settings whose head may have hooks, variables those that set variables.
	Heads, VariableFiles []string
	// Untrusted is why the agent does not run a hook, by the state of its hooks under TrustKey in its configuration and the
	// hook's file, event and place there; empty for a hook that it runs. It is nil where the agent keeps no such state.
	Untrusted func(state map[string]any, path, event string, group, at int) string
	TrustKey  string
	// Borrows is another agent whose hooks in a workspace the agent runs as well, in the user's settings if all is
	// true.
	Borrows *Borrowed
	// NotHeld are the actions and cases that the hook does not hold.
	NotHeld []string
	// Since are the first versions that obey a part of the entry, and the fault of earlier ones.
	Since []Since
	// Sample writes an event about a command, and one about an action that no policy refuses, whose name is harmless.
	Sample   func(dir, command string) (refused, passed []byte)
	Harmless string
}

// Systems is a directory on each system.
type Systems struct{ Linux, Darwin, Windows string }

// Borrowed is another agent's settings that an agent reads, those of the user as well as those of a workspace.
type Borrowed struct {
	Agent *Agent
	User  bool
}

// Since is a version of an agent, and the fault of earlier ones.
type Since struct {
	Version [3]int
	Fault   string
}

// Event is an event of an agent. The agent waits for the answer to one that guards.
type Event struct {
	Name   string
	Guards bool
}

// Guarding are events that guard, by their names.
func Guarding(names ...string) []Event {
	out := make([]Event, 0, len(names))
	for _, name := range names {
		out = append(out, Event{name, true})
	}
	return out
}

// Seconds is the time limit in the settings.
const Seconds = int(hook.Limit / 1e9)

// Handler is a hook in any agent's form.
type Handler struct {
	Name       string   `json:"name,omitempty"`
	Type       string   `json:"type,omitempty"`
	Command    string   `json:"command,omitempty"`
	Bash       string   `json:"bash,omitempty"`
	PowerShell string   `json:"powershell,omitempty"`
	Args       []string `json:"args,omitempty"`
	Timeout    int      `json:"timeout,omitempty"`
	TimeoutSec int      `json:"timeoutSec,omitempty"`
	OnFailure  string   `json:"onFailure,omitempty"`
	FailClosed bool     `json:"failClosed,omitempty"`
	ShowOutput bool     `json:"show_output,omitempty"`
}

// everyTool is the matcher of groups.
const everyTool = "*"

// Places are where the settings of agents lie.
type Places struct {
	// Home is the user's home, Workspace the root of a workspace.
	Home, Workspace string
	// Getenv reads a variable.
	Getenv func(string) string
}

// dir is the directory of the user's settings.
func (p Places) dir(a *Agent) string {
	if a.Variable != "" {
		if dir := p.Getenv(a.Variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, a.Under)
		}
	}
	return filepath.Join(p.Home, a.Home)
}

// User is the file of the user's settings.
func (p Places) User(a *Agent) string { return filepath.Join(p.dir(a), a.File) }

// Project is the file of a workspace's settings.
func (p Places) Project(a *Agent) string { return filepath.Join(p.Workspace, a.Project, a.File) }

// TooOld is the reason why a version of the agent does not obey the hook, empty without one.
func (a *Agent) TooOld(version string) string {
	var have [3]int
	if n, err := fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2]); n < len(have) || err != nil {
		return ""
	}
	for _, s := range a.Since {
		if slices.Compare(have[:], s.Version[:]) < 0 {
			return fmt.Sprintf("%s %s %s; %d.%d.%d is the first that does not", a.Title, version, s.Fault, s.Version[0],
				s.Version[1], s.Version[2])
		}
	}
	return ""
}
