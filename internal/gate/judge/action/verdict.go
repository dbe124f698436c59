package action

import "github.com/accessc/accessc/internal/gate/judge"

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
	// Asks says that a rule has a person asked, and that nothing else is left to one. Doubt says that a rule that
	// denies or asks matches, or may.
	Asks, Doubt bool
}

// And joins the verdicts of two parts of one action.
func (v Verdict) And(other Verdict) Verdict {
	doubt := v.Doubt || other.Doubt
	asks := v.Asks && other.Asks
	if other.Outcome != v.Outcome {
		asks = v.Asks && v.Outcome > other.Outcome || other.Asks && other.Outcome > v.Outcome
	}
	if other.Outcome > v.Outcome {
		v = other
	}
	v.Asks, v.Doubt = asks, doubt
	return v
}

// Permitted allows an action.
func Permitted() Verdict { return Verdict{Outcome: Allow} }

// Left leaves an action to a person, for a reason.
func Left(reason string) Verdict { return Verdict{Outcome: Unknown, Reason: reason} }

// Refused denies an action for the text that was asked for.
func Refused(reason, asked string) Verdict {
	return Verdict{Outcome: Deny, Reason: reason, Asked: asked}
}

// Of turns a refusal into a verdict; none is a permission.
func Of(r *judge.Refusal) Verdict {
	if r == nil {
		return Permitted()
	}
	return Refused(r.Text(), r.Asked)
}
