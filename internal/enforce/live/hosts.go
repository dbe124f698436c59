package live

import (
	"slices"
	"strconv"
	"time"

	"github.com/accessc/accessc/ir"
)

// Hosts connects a tool to hosts. Each call returns once its order is in force.
type Hosts interface {
	// Grant permits a host and port, or with whole all that the rule of may covers.
	Grant(id int, to ir.Endpoint, whole bool)
	// Revoke takes a grant back, and closes the connections that rest on it.
	Revoke(id int)
}

// Bounds on the questions about hosts that a tool can put to the user: questions that wait at once, and questions
// in a run. Beyond them connections are refused without a question.
// See decision D201.
const (
	maxHostsWaiting = 16
	maxHosts        = 256
)

// HostWait is how long a connection waits for an answer: about as long as programs wait for hosts.
const HostWait = 2 * time.Minute

// hasRoom reports whether another question about a host can be asked.
func (s *Session) hasRoom() bool {
	waiting := 0
	for _, q := range s.pending {
		if _, host := target(q.Ops); host {
			waiting++
		}
	}
	return waiting < maxHostsWaiting && s.hosts < maxHosts
}

// target is the host and port of a question about one, without the request.
func target(ops []ir.Operation) (ir.Endpoint, bool) {
	if len(ops) != 1 {
		return ir.Endpoint{}, false
	}
	op, ok := ops[0].(ir.Connect)
	op.To.Path = nil
	return op.To, ok
}

// hostPort is a target in the words of questions.
func hostPort(to ir.Endpoint) string { return to.Host.String() + ":" + strconv.Itoa(int(to.Port)) }

// lasting are the operations of a question as a layer permits them: of a host all requests.
func lasting(ops []ir.Operation) []ir.Operation {
	if to, ok := target(ops); ok {
		return []ir.Operation{ir.Connect{To: to}}
	}
	return slices.Clone(ops)
}
