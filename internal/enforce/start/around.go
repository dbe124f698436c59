package start

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"
)

// An agentBox is the sandbox that an agent has of its own.
type agentBox struct {
	agent string
	// variables are those that it sets for its commands.
	variables []string
	// off has the agent leave its commands to another sandbox, hook is the agent's name for accessc hook.
	off, hook string
}

// agentBoxes are known by their variables (codex-rs/core/src/spawn.rs; getSandboxedEnvVars of
// @anthropic-ai/sandbox-runtime).
var agentBoxes = []agentBox{
	{
		"Codex", []string{"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"},
		"codex --sandbox danger-full-access, as the tool of accessc init --agent codex has it", "codex",
	},
	{
		"Claude Code", []string{"SANDBOX_RUNTIME"},
		`"sandbox": {"enabled": false} in the settings of Claude Code`, "claude-code",
	},
}

// around finds the sandbox of an agent that this process runs in, and the variable that tells. The variable is the
// tool's to change, so it changes a message alone.
func around(environ []string) (box agentBox, variable string) {
	for _, b := range agentBoxes {
		for _, name := range b.variables {
			set := func(v string) bool { return strings.HasPrefix(v, name+"=") && v != name+"=" }
			if slices.ContainsFunc(environ, set) {
				return b, name
			}
		}
	}
	return agentBox{}, ""
}

// remedy is the choice of a person whose agent's sandbox, or whose host, leaves no room for this start, empty where
// neither an agent's sandbox nor a hook has a part in it.
func (r *Request) remedy() string {
	b, variable := around(r.Environ)
	switch {
	case b.agent != "":
		return "the sandbox of " + b.agent + " holds this process (" + variable + "), and accessc cannot confine " +
			"within it. A person chooses who confines: accessc, by " + b.off + "; or " + b.agent +
			", by accessc hook install " + b.hook + " --judge-only"
	case r.Hook:
		return "a hook wrote this command, and nobody accepts gaps for an agent. accessc doctor says what is missing " +
			"here; within another sandbox, accessc hook install AGENT --judge-only leaves commands to that sandbox"
	}
	return ""
}

// Advised adds the remedy to the error of a start that could not be confined. The gaps that a start in person could
// accept are no remedy then.
// See decision D80.
func (r *Request) Advised(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Code == CodeFailed && (len(e.Unmet) > 0 || refusedByHost(err)) {
		e.Remedy = r.remedy()
	}
	return err
}

// refusedByHost reports an error with which a sandbox around this process answers.
func refusedByHost(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EROFS)
}
