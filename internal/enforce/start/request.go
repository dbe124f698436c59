package start

import (
	"encoding/json"
	"io"
	"time"

	"github.com/accessc/accessc/internal/denial/evidencelog"
	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/host/maximum"
	"github.com/accessc/accessc/ir"
)

// Request is one start of a tool.
type Request struct {
	// Spec is a resolved specification of this system.
	Spec *Spec
	// Program and Args, when Program is set, replace the specification's command; otherwise
	// Args are added to it.
	Program string
	Args    []string
	// Call is the host's call of the tool.
	Call Call
	// Under is the maximum of this machine that the policy, with all of Accept and all that can be asked for, was
	// compared with. A start without it is refused where there is a maximum.
	Under maximum.Stamp
	// Accept names the gaps that are accepted.
	Accept []string
	// Environ is the environment that the policy forwards from, as os.Environ gives it.
	Environ []string
	// Dir is where the caller stands. The tool starts there if that lies in the workspace,
	// and otherwise at its root, from where a program's path counts in any case.
	Dir string
	// Messages gets the loader's messages: before the run the requirements that are not enforced,
	// after it the refusals.
	Messages io.Writer
	// Report names a file that gets one line for every denial, "-" for standard output;
	// empty for none.
	Report string
	// Trace has a supervisor judge every call that could be refused, so that the report has
	// all of them. The specification must have been made for it (Traced).
	Trace bool
	// Ask, if not nil, has the user grant operations while the tool runs. The specification must
	// have been made for it (Asking).
	Ask *Ask
	// Offline has the egress proxy look up no names and reach no hosts, for trials.
	Offline bool
	// Denials names the file that keeps the refusals of the tool's last run, empty for none. Quiet
	// leaves out the lines about them at the end.
	Denials string
	Quiet   bool
	// Named has these lines name the tool for accessc denials: a client starts several servers, and the last of them is
	// another.
	Named bool
	// Hook tells that an agent's hook wrote the command, where nobody accepts a gap.
	Hook bool
	// Again is the start under which every refusal is seen, for the line after a failed run whose refusals nothing has
	// seen; empty for none. This process stays to write it.
	Again string
	// Evidence names a file that gets the operations that the tool used and was refused, as Report
	// does; empty for none. It needs Trace.
	Evidence string
	// EvidenceLog, if not nil, asks for the run's part of an evidence log.
	EvidenceLog *EvidenceLog
	// For is how long the tool may run: it gets SIGTERM then, and SIGKILL some seconds later; 0 for
	// any time.
	For time.Duration
	// Started, if not nil, is called once the tool runs, where this process stays with it (Windows).
	Started func()
	// Record, if not nil, asks for a record of the run.
	Record *Recording
	// Ended, if not nil, is called with the status of the tool, for which this process stays. On macOS accessc becomes
	// the tool, and it is not called.
	Ended func(status int)
}

// within refuses a start that was not compared with the maximum of this machine. Every way to start a tool asks it.
func (r *Request) within() error {
	if err := r.Under.Holds(); err != nil {
		return failed("%w", err)
	}
	return nil
}

// EvidenceLog asks for the run's part of an evidence log. It holds the values that only the caller knows.
type EvidenceLog struct {
	// File is the log, and State the directory of the user's state, which has its counter.
	File, State string
	// Required lets nothing happen whose line cannot be written: the tool is killed.
	Required bool
	// Accessc, Policy and Artifact are as in Recording.
	Accessc, Policy, Artifact string
	// Key is the identity of the key by which Sign signs the end of the run, and KeyFile its file; nil for no
	// signature.
	Key, KeyFile string
	Sign         func(evidencelog.Root) (json.RawMessage, error)
}

// ended tells how the tool has ended.
func (r *Request) ended(status int) {
	if r.Ended != nil {
		r.Ended(status)
	}
}

// Ask is how the user is asked while a tool runs.
type Ask struct {
	// Terminal is false where questions wait for an answer from elsewhere.
	Terminal bool
	// Control names the directory of the sockets by which questions are answered and grants
	// revoked; empty for none.
	Control string
	// Tell, if not nil, gets every question, answer, use and revocation.
	Tell func(live.Event)
	// Write writes operations to the local layer, nil where there is none to write to.
	Write func([]ir.Operation) error
}
