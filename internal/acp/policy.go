package acp

import "github.com/accessc/accessc/internal/judge/action"

// Policies finds the policy for the working directory of a session. It may be asked from several
// goroutines.
type Policies interface {
	For(dir string) (*action.Judge, error)
}
