package start

import (
	"syscall"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/enforce/start/seccomp"
	"github.com/accessc/accessc/internal/enforce/supervisor"
)

// supervision stays with the tool: it answers the calls that the specification traps, and has the user asked.
type supervision struct {
	*run
	limits      *limits
	confinement *confinement
	originals   *originals
	// policy is that of the specification, nil where it is still to be read.
	policy *supervisor.Policy
	// egress is the proxy of the run, nil where no rule names a host.
	egress *egress
	// session has the grants of the run, nil where none are given.
	session *live.Session
}

// begin has a running tool supervised, and returns the function that lets the tool go.
func (s *supervision) begin(
	t *supervisor.Tool, log *denial.Log, to *outputs,
) (func() (syscall.WaitStatus, error), error) {
	b, err := s.supervisor(log, to)
	if err != nil {
		return nil, err
	}
	s.by = b
	stop, err := s.converse()
	if err != nil {
		return nil, failed("--ask: %w", err)
	}
	return func() (syscall.WaitStatus, error) {
		defer stop()
		return b.Run(t)
	}, nil
}

// supervisor is that of the run, which writes refusals to a log, and what was used and judged where that is kept.
func (s *supervision) supervisor(log *denial.Log, to *outputs) (*supervisor.Supervisor, error) {
	proxy, err := s.egress.greeted()
	if err != nil {
		return nil, failed("%w", err)
	}
	granted := s.confinement.grants
	o := supervisor.Options{
		Dir: s.dir, Temp: s.tmp, Shared: s.shared, Mark: s.id.Mark, Files: s.files, Policy: s.policy,
		Grants: granted.by, Placements: granted.placements, Absent: granted.absent,
		Join: s.limits.joined(), Ends: s.limits.ends(), Egress: proxy, Live: s.asks(),
		Keeper: s.originals.keeper,
		Denied: log.Add, Calls: seccomp.CallNames(),
	}
	if s.traced {
		o.Trace = &supervisor.Tracing{ABI: s.abi, Blocks: s.rules().Answered}
	}
	if to.journal != nil {
		o.Judged = to.journal.Operation
		if o.Live != nil {
			o.Live.Changed = to.changed
		}
	}
	if to.observes() {
		o.Used, o.Sought = log.Use, log.Sought
	}
	b, err := supervisor.New(s.spec, o)
	if err != nil {
		return nil, failed("the supervisor: %w", err)
	}
	s.session = b.Session()
	return b, nil
}
