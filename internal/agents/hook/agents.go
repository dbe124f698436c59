package hook

import (
	"cmp"
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

	// Tools are the agent's tools by name, others reads the ones of servers.
	Tools map[string]Tool
	// Read reads an event, write is the document of an answer, nil for none.
	Read  func(a *Agent, v strictjson.Value) (*Event, error)
	Write func(e *Event, a *Answer) any
	// Status is the exit status of a refusal that was read as an answer.
	Status int
}

// Blocks is the exit status by which a hook refuses, regardless of its output. All agents take it so; the plugin of
// opencode takes every status but 0 so.
const Blocks = 2

// Deadline is the time after which the hook refuses: half of the agent's limit, after which most agents
// go on.
func (a *Agent) Deadline() time.Duration { return min(Limit, cmp.Or(a.Default, Limit)) / 2 }
