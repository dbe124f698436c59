package action

import "github.com/accessc/accessc/internal/judge"

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

// And joins the verdicts of two parts of one operation.
func (v Verdict) And(other Verdict) Verdict {
	if other.Outcome > v.Outcome {
		return other
	}
	return v
}

// Permitted allows an action.
func Permitted() Verdict { return Verdict{Outcome: Allow} }

// Left leaves an action to a person, for a reason.
func Left(reason string) Verdict { return Verdict{Outcome: Unknown, Reason: reason} }

// Refused denies an action for the text that was asked for.
func Refused(reason, asked string) Verdict { return Verdict{Deny, reason, asked} }

// Of turns a refusal into a verdict; none is a permission.
func Of(r *judge.Refusal) Verdict {
	if r == nil {
		return Permitted()
	}
	return Refused(r.Text(), r.Asked)
}
