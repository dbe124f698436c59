package start

// State says how a host meets one need.
type State string

// The states.
const (
	Present State = "present"
	Partial State = "partial"
	Missing State = "missing"
	// Unneeded is a means that is not there and that this host does without.
	Unneeded State = "unneeded"
)

// Finding is one thing that confining tools on this system needs or profits from.
type Finding struct {
	Name   string `json:"name"`
	State  State  `json:"state"`
	Detail string `json:"detail"`
	// Fix is the advice where something is missing and can be had.
	Fix string `json:"fix,omitempty"`
}

// Report lists the means of enforcement of a host.
type Report struct {
	System   string    `json:"system"`
	Landlock int       `json:"landlock_abi"`
	Findings []Finding `json:"findings"`
	// Confines is true when tools can be started under a policy here.
	Confines bool   `json:"confines"`
	Summary  string `json:"summary"`
}
