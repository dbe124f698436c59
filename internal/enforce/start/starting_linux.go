package start

import (
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/enforce/start/inherited"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/process/points"
)

// starting is a start in progress: its parts, in the order in which it comes to them.
type starting struct {
	*run
	program     *program
	confinement *confinement
	limits      *limits
	supervision *supervision
	records     *records
	refusals    *refusals
	remains     *remains
	originals   *originals
}

func newStarting(r *run) *starting {
	s := &starting{run: r, program: &program{run: r}, limits: &limits{run: r}}
	s.confinement = &confinement{run: r, ruleset: -1}
	s.originals = &originals{run: r}
	s.supervision = &supervision{run: r, limits: s.limits, confinement: s.confinement, originals: s.originals}
	s.records = &records{outputs: &outputs{run: r}, limits: s.limits, program: s.program, supervision: s.supervision}
	s.refusals = &refusals{run: r, program: s.program}
	s.remains = &remains{run: r, limits: s.limits}
	return s
}

// prepare does everything that does not need privileges to be dropped first, and leaves nothing
// behind when it fails.
func (s *starting) prepare() error {
	// The ruleset is about files that exist, so the home comes first.
	var err error
	if s.remains.home, err = s.site.home(&s.launch); err != nil {
		return err
	}
	if err := s.confinement.begin(); err != nil {
		return failed("%w", err)
	}
	if s.directories, err = s.site.directories(&s.launch, s.id.Name, s.context != ""); err != nil {
		return err
	}
	if s.supervision.egress, err = startEgress(s.run); err != nil {
		return failed("the egress proxy: %w", err)
	}
	if s.supervised {
		s.shared = s.share()
	}
	if err := s.records.open(); err != nil {
		return err
	}
	if err := s.program.find(s.supervision.egress); err != nil {
		return err
	}
	if err := s.limits.enter(); err != nil {
		return failed("the cgroup: %w", err)
	}
	if err := s.confinement.complete(); err != nil {
		return failed("%w", err)
	}
	if err := s.originals.keep(); err != nil {
		return err
	}
	if err := s.records.begins(); err != nil {
		return failed("%w", err)
	}
	return nil
}

// child is the process that becomes the tool.
func (s *starting) child() (supervisor.Child, error) { return s.confinement.child(s.program, s.limits) }

// childApart is child at the place where the tool starts.
func (s *starting) childApart() (supervisor.Child, error) {
	c, err := s.child()
	c.Dir = s.req.place(s.spec.Workspace)
	return c, err
}

// become applies the sandbox to this process and becomes the tool.
func (s *starting) become() error {
	if err := s.remains.sweepAfter(); err != nil {
		return failed("%w", err)
	}
	c, err := s.child()
	if err == nil {
		err = dropPrivileges()
	}
	if err != nil {
		return err
	}
	if err := keepDeathSignal(); err != nil {
		return failed("the signal for the end of the parent: %w", err)
	}
	// The runtime puts back the limit that it has raised when it executes the tool, unless it is
	// told that the limit was set.
	files := inherited.Files()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return failed("limits: %w", err)
	}
	if len(s.limits.perProcess()) > 0 {
		// They bind this process before it is the tool: a garbage collection would die of memory
		// that it does not get.
		debug.SetGCPercent(-1)
		runtime.GC()
	}
	s.limits.join()
	points.Reach(points.Becoming)
	return s.program.childFailed(supervisor.Become(c))
}

// supervise starts the tool as a child of this process, which stays: it answers the calls that
// the specification traps, if that needs a supervisor, and waits. It returns only when the tool
// did not start.
func (s *starting) supervise() error {
	child, err := s.child()
	if err == nil {
		err = dropPrivileges()
	}
	if err != nil {
		s.supervision.egress.end()
		return err
	}
	points.Reach(points.Becoming)
	t, err := supervisor.Clone(child)
	if err != nil {
		s.supervision.egress.end()
		return s.program.childFailed(err)
	}
	log := denial.NewLog(s.records.report)
	if s.records.observes() {
		log.Observe()
	}
	s.begun = time.Now()
	attend, err := s.attendant(t, log)
	if err != nil {
		t.Kill()
		s.supervision.egress.end()
		return err
	}
	late := s.limits.endsLater()
	status, err := attend()
	late()
	ended := time.Now()
	limit := s.limits.endedBy(status, ended, childTime())
	s.remains.discard()
	_ = log.Close()
	if err != nil {
		return s.program.childFailed(err)
	}
	s.refusals.say(log, status, ended)
	s.records.evidenced(log, status, ended)
	s.limits.say(limit)
	s.originals.end()
	s.records.write(status, ended, log, limit)
	s.records.logged(status, limit)
	s.req.ended(exitStatus(status))
	supervisor.Exit(status)
	return nil
}

// attendant prepares to wait for a running tool, and returns the function that lets the tool go.
func (s *starting) attendant(t *supervisor.Tool, log *denial.Log) (func() (syscall.WaitStatus, error), error) {
	if err := s.remains.sweepAfter(); err != nil {
		return nil, failed("%w", err)
	}
	if !s.supervised {
		return t.Attend, nil
	}
	return s.supervision.begin(t, log, s.records.outputs)
}

// abandon takes everything back that a start has made.
func (s *starting) abandon() {
	s.confinement.abandon()
	s.supervision.egress.end()
	s.originals.drop()
	s.over()
}

// over removes the remains of a run in a process that goes on.
func (s *starting) over() {
	s.confinement.drop()
	s.remains.over()
}
