package acp

import "github.com/accessc/accessc/internal/judge/action"

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
}
