package serve

import (
	"os"
	"syscall"

	"github.com/accessc/accessc/internal/enforce/start"
)

// Host answers questions and starts tools. Its methods are called by several connections at once.
type Host interface {
	// About is told to each client.
	About() About
	// Can answers a question about a tool's policy, Decide one about an operation of an agent.
	Can(*Question) (any, error)
	Decide(*Operation) (any, error)
	// Start starts a tool. It takes over the files, also where it fails.
	Start(*Start) (Process, error)
}

// About is a server.
type About struct {
	// Accessc is its version, Root the canonical workspace.
	Accessc string `json:"accessc"`
	Root    string `json:"root"`
}

// Question is the params of can, as accessc can --stdin has them.
type Question struct {
	Tool        string   `json:"tool"`
	Operation   string   `json:"operation"`
	Method      *string  `json:"method"`
	Target      *string  `json:"target"`
	Destination *string  `json:"destination"`
	Arguments   []string `json:"arguments"`
	System      bool     `json:"system"`
}

// Operation is the params of decide, as accessc decide has them.
type Operation struct {
	Ruleset   string   `json:"ruleset"`
	Tool      string   `json:"tool"`
	Operation string   `json:"operation"`
	Command   *string  `json:"command"`
	Cwd       string   `json:"cwd"`
	Paths     []string `json:"paths"`
	URL       string   `json:"url"`
	Shell     string   `json:"shell"`
}

// Start is a tool to be started.
type Start struct {
	Tool string
	// Args are added to the tool's command. Command, if not nil, is started in its place.
	Args, Command []string
	Call          start.Call
	// Dir is an absolute directory, empty for that of the server. Env is the environment that the policy
	// forwards from, nil for that of the server.
	Dir string
	Env []string
	// Session is that of accessc exec.
	Session string
	// Ask has the client asked about operations that access.may lists.
	Ask bool
	// Streams are the standard descriptors.
	Streams [3]*os.File
	// Tell gets refusals and questions; nil where the client wants none. A call may wait for the client.
	Tell func(kind string, what any)
}

// The kinds of what Start.Tell gets: a refusal, as accessc denials has it; a question, as accessc grants has
// it; and the end of a question, of which the number is left.
const (
	Refused   = "refused"
	Asks      = "asks"
	Withdrawn = "withdrawn"
)

// Process is a tool that was started. Only Wait is called more than once at a time.
type Process interface {
	// PID is the tool's process, or its supervisor's.
	PID() int
	// Signal sends a signal to the tool, unless it has ended.
	Signal(syscall.Signal) error
	// Answer answers a question, Revoke takes a grant back.
	Answer(question int, answer string) error
	Revoke(grant int) error
	// Kill ends the tool, and the processes that it has left as far as they can be found.
	Kill()
	// Wait waits until the tool has ended, and everything was reported about it.
	Wait() Status
}

// Status is how a tool ended.
type Status struct {
	// Code is the exit status, as accessc exec has it. Signal is the name of the signal that ended the tool, such as
	// "KILL", empty for none.
	Code   int    `json:"exit"`
	Signal string `json:"signal,omitempty"`
}
