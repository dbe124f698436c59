package approvals

import (
	"slices"
	"time"
)

// Reply is the user's answer about a tool that reaches sensitive paths.
type Reply string

// The replies.
const (
	// Yes: the tool may start.
	Yes Reply = "yes"
	// No: it may not.
	No Reply = "no"
	// Warned: there was no user to ask, and a warning was printed.
	Warned Reply = "warned"
)

// Answer is a reply that counts for one session.
type Answer struct {
	// Session names the session; see userdir.Session.
	Session string `json:"session"`
	Tool    string `json:"tool"`
	// Reaches are the sensitive paths that the reply was about, with the tool's capabilities
	// there.
	Reaches []string  `json:"reaches"`
	Reply   Reply     `json:"reply"`
	At      time.Time `json:"at"`
}

// Answers of sessions that are over are of no use, but nothing says that a session is over.
const (
	keepAnswers = 30 * 24 * time.Hour
	maxAnswers  = 500
)

// Answered returns the reply that was given in a session for a tool, if it was about
// all that the tool reaches now.
func (s Store) Answered(session, tool string, reaches []string) (Reply, bool) {
	for _, a := range slices.Backward(s.doc.answers) {
		if a.Session != session || a.Tool != tool {
			continue
		}
		known := !slices.ContainsFunc(reaches, func(r string) bool { return !slices.Contains(a.Reaches, r) })
		return a.Reply, known
	}
	return "", false
}

// Answer records a reply in the place of an earlier reply of the session for the tool.
// Only within Update does it last.
func (s *Store) Answer(a Answer) {
	a.At = a.At.UTC().Truncate(time.Second)
	s.doc.answers = slices.DeleteFunc(slices.Clone(s.doc.answers), func(o Answer) bool {
		return o.Session == a.Session && o.Tool == a.Tool || a.At.Sub(o.At) > keepAnswers
	})
	s.doc.answers = append(s.doc.answers, a)
	s.doc.answers = s.doc.answers[max(0, len(s.doc.answers)-maxAnswers):]
}

// ForgetAnswers takes back every reply and returns how many there were. Only within
// Update does it last.
func (s *Store) ForgetAnswers() int {
	n := len(s.doc.answers)
	s.doc.answers = nil
	return n
}
