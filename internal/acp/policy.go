package acp

import (
	"github.com/accessc/accessc/internal/judge"
	"github.com/accessc/accessc/internal/judge/action"
)

// Policies finds the policy for the working directory of a session. It may be asked from several
// goroutines.
type Policies interface {
	For(dir string) (*Policy, error)
}

// Policy is the policy of one session.
type Policy struct {
	// Judge answers for files and addresses, Commands for command lines.
	Judge    *judge.Judge
	Commands action.Listed
	// OnlyRefuses leaves permitted actions to the client. It is for a policy that no person has
	// written: the default permits more than a person would who is asked.
	OnlyRefuses bool
}
