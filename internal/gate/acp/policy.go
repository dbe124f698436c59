package acp

import (
	"github.com/accessc/accessc/internal/gate/invocations"
	"github.com/accessc/accessc/internal/gate/judge/action"
)

// Policies finds the policy for the working directory of a session. It may be asked from several
// goroutines.
type Policies interface {
	For(dir string) (*Policy, error)
}

// Policy is the policy of one session.
type Policy struct {
	*action.Judge
	// Confine turns a program and its arguments into those of a start under the policy; nil starts
	// programs as they are.
	Confine func(words []string) []string
	// Made counts the commands that pass as invocations of the tool of the policy; nil counts none.
	Made *invocations.Session
}

// invoke holds the constraints of the tool for a command that is judged.
func (p *Policy) invoke(v action.Verdict) action.Verdict {
	if p.Made == nil || v.Outcome == action.Deny {
		return v
	}
	count := p.Made.Invoke
	if v.Outcome != action.Allow {
		count = p.Made.May
	}
	if err := count(p.Files.View.Tool); err != nil {
		return action.Refused(err.Error(), "")
	}
	return v
}
