package ruleset

import "slices"

// Outcome is the answer to an operation. The zero value leaves the decision to a person.
type Outcome uint8

// The outcomes.
const (
	Unknown Outcome = iota // no rule decides, or something is not understood
	Allow                  // every part is allowed
	Deny                   // some part is denied
	Ask                    // a rule has a person asked about some part, and none is denied
)

// String returns the word that every format uses.
func (o Outcome) String() string { return [...]string{"unknown", "allow", "deny", "ask"}[o] }

// ParseOutcome reads the outcome of a rule.
func ParseOutcome(s string) (Outcome, bool) {
	i := slices.IndexFunc([]Outcome{Allow, Deny, Ask}, func(o Outcome) bool { return o.String() == s })
	if i < 0 {
		return Unknown, false
	}
	return []Outcome{Allow, Deny, Ask}[i], true
}

// Verdict returns the word of formats that know three: Ask leaves the operation to a person, as Unknown does.
func (o Outcome) Verdict() string {
	if o == Ask {
		return Unknown.String()
	}
	return o.String()
}

// join is the outcome of two parts together.
func (o Outcome) join(p Outcome) Outcome {
	switch {
	case o == Deny || p == Deny:
		return Deny
	case o == Ask || p == Ask:
		return Ask
	case o == Allow && p == Allow:
		return Allow
	default:
		return Unknown
	}
}

// Kind is the kind of an operation, as the Agent Client Protocol tells them apart.
type Kind uint8

// The kinds of operation. The zero value is Execute.
const (
	Execute Kind = iota // run a command line
	Read
	Edit
	Delete
	Move
	Search
	Fetch // retrieve a URL
	Think
	SwitchMode
	Other
)

var kindNames = []string{"execute", "read", "edit", "delete", "move", "search", "fetch", "think", "switch_mode",
	"other"}

// String returns the name of the kind.
func (k Kind) String() string { return kindNames[k] }

// KindNames lists the names of all kinds.
func KindNames() []string { return slices.Clone(kindNames) }

// ParseKind is the inverse of Kind.String.
func ParseKind(s string) (Kind, bool) {
	i := slices.Index(kindNames, s)
	return Kind(max(i, 0)), i >= 0
}

// tri is the answer of a matcher.
type tri uint8

const (
	no tri = iota
	maybe
	yes
)

func both(a, b tri) tri   { return min(a, b) }
func either(a, b tri) tri { return max(a, b) }
func (t tri) not() tri    { return yes - t }

func truth(b bool) tri {
	if b {
		return yes
	}
	return no
}
