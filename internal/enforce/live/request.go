package live

// Request is the request of a client of a control socket.
type Request struct {
	// Command is list, answer or revoke.
	Command string `json:"command"`
	// ID is that of a question or grant.
	ID     int    `json:"id,omitempty"`
	Answer Answer `json:"answer,omitempty"`
	End
}

// Reply is the answer of a run: its state, or an error.
type Reply struct {
	Error string `json:"error,omitempty"`
	Status
}

// Status has the grants of a run and its open questions.
type Status struct {
	Tool string `json:"tool"`
	// PID is that of the supervisor.
	PID     int       `json:"pid"`
	Grants  []Granted `json:"grants"`
	Pending []Event   `json:"pending"`
}

// Granted is a grant in force, in words.
type Granted struct {
	Grant
	Rules []string `json:"rules"`
	May   string   `json:"may"`
	// Left is how many further calls a counted grant permits.
	Left int `json:"left,omitempty"`
}
