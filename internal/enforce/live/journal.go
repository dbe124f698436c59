package live

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/accessc/accessc/ir"
)

// Event is one thing that happened to the grants of a run.
type Event struct {
	Time time.Time `json:"time"`
	// Event is question, answer, use, revoked, ended or withdrawn; ID is that of the question, which is
	// that of the grant as well.
	Event  string `json:"event"`
	ID     int    `json:"id"`
	Answer Answer `json:"answer,omitempty"`
	// Operation is in the form of accessc can, Path is its first place on this host.
	Operation string `json:"operation,omitempty"`
	Path      string `json:"path,omitempty"`
	// Rule is the rule of may, with its place.
	Rule string `json:"rule,omitempty"`
	// Grants are the places and capabilities that an answer is about.
	Grants []string `json:"grants,omitempty"`
	End
	PID  int    `json:"pid,omitempty"`
	Name string `json:"name,omitempty"`
}

// of completes an event that is about a question.
func (e Event) of(s *Session, q *Question) Event {
	e.Time, e.ID, e.PID, e.Name = s.o.Now(), q.ID, q.Call.PID, q.Call.Name
	e.Operation, e.Path, e.Rule, e.Grants = operation(q.Ops), s.path(q.Ops), ruleText(q.By, plain), GrantTexts(q.Grants)
	return e
}

// operation writes operations on the same places as one. The request to a host is left out: it
// has no bounds, and can have secrets.
func operation(ops []ir.Operation) string {
	if to, ok := target(ops); ok {
		ops = []ir.Operation{ir.Connect{To: to}}
	}
	out := ""
	for _, op := range ops {
		out += ir.Describe(op).Verb + " "
	}
	about := ir.Describe(ops[0])
	out += about.Subject
	if len(about.Places) > 1 {
		out += " to " + about.Places[1].At.Short()
	}
	return out
}

// path is the first place of operations on this host.
func (s *Session) path(ops []ir.Operation) string {
	places := ir.Describe(ops[0]).Places
	if len(places) == 0 || s.o.Roots == nil {
		return ""
	}
	abs, _ := s.o.Roots.Path(places[0].At)
	return abs
}

func ruleText(r ir.Rule, name func(string) string) string {
	permits := "connect"
	if file, ok := r.(*ir.FSRule); ok {
		permits = file.Caps.String()
	}
	return fmt.Sprintf("%s  %s (%s)", name(r.Subject()), permits, name(r.Source().String()))
}

// GrantTexts are grants in words: the place and the capabilities, or the host.
func GrantTexts(g ir.Given) []string { return grantTexts(g, plain) }

// plain is a name as documents have it.
func plain(name string) string { return name }

// grantTexts are grants in words, with names as they are to be shown.
func grantTexts(g ir.Given, name func(string) string) []string {
	var out []string
	for _, r := range g.FS {
		out = append(out, name(r.At.Short())+"  "+r.Caps.String())
	}
	for _, r := range g.Net {
		out = append(out, name(r.Subject())+"  connect")
	}
	return out
}

// maxCaused bounds the events that are kept of those that a tool causes. The user's answers and
// revocations, and the ends of grants, are all kept.
const maxCaused = 10_000

// journal collects the events of a run.
type journal struct {
	mu     sync.Mutex
	events []Event
	caused int
	// dropped counts the events that were not kept.
	dropped int
}

func (j *journal) add(e Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.Event != "answer" && e.Event != "revoked" && e.Event != "ended" {
		if j.caused >= maxCaused {
			j.dropped++
			return
		}
		j.caused++
	}
	j.events = append(j.events, e)
}

// Use is an operation that rests on a grant.
type Use struct {
	ID int
	Op ir.Operation
}

// Used notes that a call of a process has used grants.
func (s *Session) Used(uses []Use, pid int, name string) {
	for _, u := range uses {
		ops := []ir.Operation{u.Op}
		s.note(Event{Time: s.o.Now(), Event: "use", ID: u.ID, Operation: operation(ops), Path: s.path(ops), PID: pid, Name: name})
	}
}

// Events returns the kept events, none without Options.Record, and the number of those that were not kept.
func (s *Session) Events() ([]Event, int) {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	return slices.Clone(s.record.events), s.record.dropped
}
