package acp

import (
	"github.com/accessc/accessc/internal/judge"
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
	Commands Commands
	// OnlyRefuses leaves permitted actions to the client. It is for a policy that no person has
	// written: the default permits more than a person would who is asked.
	OnlyRefuses bool
}

// Commands judges command lines.
type Commands interface {
	Judge(c Command) Verdict
}

// Command is a command that an agent has a client run, or asks to run itself.
type Command struct {
	// Words are the program and its arguments; without them, Line is the text for a shell.
	Words []string
	Line  string
	// Dir is the working directory, empty for that of the session.
	Dir string
	// Env are the names of the variables that are set for the command.
	Env []string
}

// Outcome is the answer of a policy that need not have one.
type Outcome uint8

// The outcomes. Of several parts of one operation the highest counts.
const (
	Allow Outcome = iota + 1
	Unknown
	Deny
)

// String returns the word of the audit log.
func (o Outcome) String() string {
	switch o {
	case Allow:
		return "allow"
	case Deny:
		return "deny"
	case Unknown:
		return "ask"
	default:
		return "ask"
	}
}

// Verdict is an outcome, its reason, and the text that was refused.
type Verdict struct {
	Outcome       Outcome
	Reason, Asked string
}

// and joins the verdicts of two parts of one operation.
func (v Verdict) and(other Verdict) Verdict {
	if other.Outcome > v.Outcome {
		return other
	}
	return v
}

// of turns a refusal into a verdict; none is a permission.
func of(r *judge.Refusal) Verdict {
	if r == nil {
		return Verdict{Outcome: Allow}
	}
	return Verdict{Deny, r.Text(), r.Asked}
}
