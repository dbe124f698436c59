package ir

// Effect is the answer of Decide. The zero value denies.
type Effect uint8

// The effects.
const (
	Deny Effect = iota
	Allow
)

// String returns "allow" or "deny".
func (e Effect) String() string {
	switch e {
	case Allow:
		return "allow"
	case Deny:
		return "deny"
	default:
		return "deny"
	}
}

// Reason is the reason of an answer of Decide.
type Reason uint8

// The reasons.
const (
	// ReasonNone is the zero value.
	ReasonNone Reason = iota
	// ReasonRule: a rule decided.
	ReasonRule
	// ReasonDefault: no rule matched.
	ReasonDefault
	// ReasonAny: the resource is not restricted.
	ReasonAny
	// ReasonAbsolute: the tool was asked to act on an absolute path.
	ReasonAbsolute
	// ReasonOutside: the path leaves the workspace lexically.
	ReasonOutside
	// ReasonEscape: a symlink leads out of the workspace and no external rule covers it.
	ReasonEscape
	// ReasonLoop: the path does not resolve because of a symlink loop.
	ReasonLoop
	// ReasonPinned: the move would carry a rule's path, or an ancestor of a rule's path.
	ReasonPinned
	// ReasonNoGain: the move would escalate: more would be permitted on the moved file at its
	// new place.
	ReasonNoGain
	// ReasonRoot: the name of a root belongs to a directory outside of it.
	ReasonRoot
	// ReasonLoader: the variable changes how code is loaded and is forwarded by its exact name only.
	ReasonLoader
	// ReasonArgs: the program is listed, these arguments are not.
	ReasonArgs
	// ReasonCommand: a commands table exists and does not list the program.
	ReasonCommand
	// ReasonName: the program is listed, but not by the name that it is given, which it may
	// take for a subcommand.
	ReasonName
	// ReasonMissing: there is no such program. A listed program that was not there when the
	// policy was compiled for a host does not start later either.
	ReasonMissing
	// ReasonLeads: the name leads to a rule's path, and only a directory can be made or
	// removed there.
	ReasonLeads
	// ReasonOwn: accessc sets the variable itself, to something of the tool's own.
	ReasonOwn
)

var reasonNames = [...]string{
	"none", "rule", "default-deny", "unrestricted", "absolute", "outside", "escape", "loop", "pinned", "no-gain",
	"root", "loader-variable", "arguments", "unlisted-program", "program-name",
	"missing-program", "leads", "own",
}

// String returns the word that the machine-readable formats use.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "none"
}

// Verdict is the answer to an operation.
type Verdict struct {
	Effect Effect // permit or deny
	Reason Reason // why
	// Rule is the rule that decided, nil when none matched.
	Rule Rule
	// Need is the capability that decided, zero outside the filesystem.
	Need Capability
	// At is the place whose region decided.
	At Location
	// Pin is the rule whose path a refused move would carry; nil otherwise.
	Pin *FSRule
}

// Allowed reports whether the operation may happen.
func (v Verdict) Allowed() bool { return v.Effect == Allow }

func refuse(r Reason) Verdict { return Verdict{Effect: Deny, Reason: r} }
