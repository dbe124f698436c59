package start

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/ir"
)

// Plan is a specification that this host was asked about once, for any number of starts in a process
// that goes on. Everything that a start looks up on the disk it looks up itself.
type Plan struct {
	spec   *Spec
	accept []string
	ask    bool
	abi    int
	terms
	place delegation
	// filter is that of a tool; of a supervised one the part without the traps, which has the rest.
	filter, traps []unix.SockFilter
	canary        string
	view          *ir.View
	// policy is read where a supervisor judges by it.
	policy *supervisor.Policy

	mu sync.Mutex
	// environ is the environment of the latest start, of which forwards are the variables that the policy forwards.
	environ, forwards []string
	// context is the file of the Context that all tools of the plan read, empty until the first start.
	context string
	// spawner is a thread under the filter, which the kernel takes longer to make than all other steps of a
	// child; nil until the first start. users are the starts and tools of it.
	spawner *supervisor.Spawner
	users   int
	closed  bool

	ahead ahead

	looked sync.Once
	// exposed is the error of starts if the tool may change the directories of other runs.
	exposed error
}

// NewPlan checks that this host meets the requirements of a specification, or that its gaps are
// accepted; messages gets those that are. With ask operations can be granted while the tool runs: the
// specification must have been made for it (Asking). The error is an *Error.
func NewPlan(spec *Spec, accept []string, ask bool, messages io.Writer) (*Plan, error) {
	if spec.Form != backends.Resolved.String() {
		return nil, failed("%w", errPortable)
	}
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return nil, failed("this kernel has no Landlock (%v); see accessc doctor", err)
	}
	p := &Plan{spec: spec, accept: accept, abi: min(abi, landlock.MaxABI)}
	host := plainHost()
	if slices.ContainsFunc(spec.Limits, func(l backends.Limit) bool { return controller(l.Kind) != "" }) {
		p.place = delegated()
		host.Groups = p.place.controllers
	}
	if p.terms, err = settle(&Request{Spec: spec, Accept: accept, Messages: messages}, host); err != nil {
		return nil, err
	}
	if p.ask = ask; ask && !host.Supervises {
		return nil, failed("to be asked a tool needs a supervisor, which this host cannot have; see accessc doctor")
	}
	p.supervised = p.supervised || ask
	r := &run{spec: spec, abi: p.abi, terms: p.terms, req: &Request{}}
	if p.supervised {
		if err := supervisable(spec); err != nil {
			return nil, err
		}
		p.filter, p.traps, err = divide(r.rules(), p.abi)
	} else {
		p.filter, err = assemble(r.rules(), p.abi)
	}
	if err != nil {
		return nil, failed("%w", err)
	}
	p.canary = findCanary(r.paths())
	p.view = envView(&spec.Launch, ir.Linux)
	if p.supervised {
		if p.policy, err = supervisor.ReadPolicy(spec); err != nil {
			return nil, failed("%w", err)
		}
	}
	return p, nil
}

// Supervised reports whether the tool needs a supervisor.
func (p *Plan) Supervised() bool { return p.supervised }

// run prepares a start with the tool's standard descriptors. The tool has not started, and after an
// error nothing is left of it.
func (p *Plan) run(s *Site, req *Request, id Identity, files [3]int) (*run, error) {
	if err := checkDescriptors(files[:]...); err != nil {
		return nil, err
	}
	if err := p.keepsOff(s.Base); err != nil {
		return nil, err
	}
	req.Spec, req.Accept = p.spec, p.accept
	r := &run{
		req: req, id: id, site: s, spec: p.spec, launch: p.spec.Launch, abi: p.abi, terms: p.terms, place: p.place,
		filter: p.filter, canary: p.canary, view: p.view, policy: p.policy, files: &files, ruleset: -1, ahead: &p.ahead,
	}
	r.passed = p.passes(req.Environ)
	err := req.carry(&r.launch)
	if err == nil {
		err = p.contextOf(r)
	}
	if err == nil {
		err = r.prepare()
	}
	if err != nil {
		r.abandon()
		return nil, err
	}
	return r, nil
}

// passes are the variables that the policy forwards, asked about again where they are others than at the latest start.
func (p *Plan) passes(environ []string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forwards == nil || !slices.Equal(p.environ, environ) {
		p.environ, p.forwards = slices.Clone(environ), letThrough(&p.spec.Launch, p.view, ir.Linux, environ)
	}
	return p.forwards
}

// keepsOff refuses a tool that may write where the runs of this process have their directories: it would
// choose the Context of the next one. See decision D236.
func (p *Plan) keepsOff(base string) error {
	p.looked.Do(func() {
		probe := run{spec: p.spec, terms: p.terms, directories: directories{tmp: base + "/" + runPrefix}}
		if by := probe.writes(base); by != "" {
			p.exposed = failed("the directories of runs are in %s, where %s lets the tool write; let TMPDIR be elsewhere", base, by)
		}
	})
	return p.exposed
}

// contextOf gives a run the file of the Context that it shares with the others of the plan. A supervised
// tool has one of its own, in the temporary directory: the policy says nothing about other places. So has
// one with a call. See decision D236.
func (p *Plan) contextOf(r *run) error {
	if p.supervised || r.launch.Context != p.spec.Launch.Context {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.context == "" {
		file := r.site.Base + "/" + rand.Text() + ".json"
		if err := writeContext(file, &r.launch); err != nil {
			return err
		}
		p.context = file
	}
	r.context = p.context
	return nil
}

// apart is the process that becomes the tool, at the place where the tool starts.
func (r *run) apart() (supervisor.Child, error) {
	c, err := r.child()
	c.Dir = r.req.place(r.spec.Workspace)
	return c, err
}

// abandon takes everything back that a start has made.
func (r *run) abandon() {
	opened := r.grants
	if r.building != nil {
		if r.building.stop(); opened == nil {
			opened = r.building.grants
		}
	}
	r.egress.end()
	if opened != nil {
		for _, p := range opened.placements {
			_ = unix.Close(p.FD)
		}
	}
	r.over()
}

// over removes the remains of a run.
func (r *run) over() {
	r.dropRuleset()
	if r.group != nil {
		_ = r.group.procs.Close()
	}
	r.discard()
	r.release()
}

// dropRuleset closes the ruleset, which the tool has by now.
func (r *run) dropRuleset() {
	if r.building != nil {
		_ = unix.Close(r.building.fd)
		r.building = nil
	}
}

// stop ends the filling of a ruleset that is not needed.
func (b *building) stop() {
	b.next.Store(int32(len(b.paths)))
	select {
	case <-b.aside:
	case <-b.filled:
	}
}

// Spawn starts a tool of a plan that needs no supervisor, and returns when it has become the program.
// The error is an *Error; then the tool has not run, and nothing is left behind.
func (p *Plan) Spawn(s *Site, req Request, files [3]int) (*Spawned, error) {
	p.enter()
	r, err := p.run(s, &req, NewIdentity(), files)
	if err != nil {
		p.leave()
		return nil, err
	}
	c, err := r.apart()
	if err == nil {
		var process *os.Process
		if process, err = p.spawn(c); err == nil {
			r.dropRuleset()
			return &Spawned{plan: p, run: r, Process: process, ended: make(chan struct{})}, nil
		}
		err = r.childFailed(err)
	}
	r.abandon()
	p.leave()
	return nil, err
}

// enter keeps the thread and the Context of a plan for a start, and for its tool.
func (p *Plan) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users++
}

// thread is the one that starts the tools of the plan.
func (p *Plan) thread() (_ *supervisor.Spawner, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spawner == nil {
		p.spawner, err = supervisor.NewSpawner(func() error {
			if err := dropCapabilities(); err != nil {
				return err
			}
			return supervisor.Filter(p.filter)
		})
	}
	return p.spawner, err
}

// spawn starts a child from the plan's thread.
func (p *Plan) spawn(c supervisor.Child) (*os.Process, error) {
	spawner, err := p.thread()
	if err != nil {
		return nil, err
	}
	c.Filtered = true
	return spawner.Spawn(c)
}

// leave undoes enter.
func (p *Plan) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users--
	p.end()
}

// Close ends the thread of a plan that is started no more, once all of its tools have ended.
func (p *Plan) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.end()
}

// end frees a plan that is closed when no tool of it is left: they would end with the thread.
func (p *Plan) end() {
	if !p.closed || p.users > 0 {
		return
	}
	p.ahead.close()
	if p.spawner != nil {
		p.spawner.Close()
		p.spawner = nil
	}
	if p.context != "" {
		_ = os.Remove(p.context)
		p.context = ""
	}
}

// Ended is how a supervised tool has ended.
type Ended struct {
	supervisor.End
	// Refused is the number of calls that were refused, probes of runtimes aside; Limit the kind of
	// the limit that ended the tool, empty for none.
	Refused int
	Limit   string
}

// Attended is a tool under the supervision of this process.
type Attended struct {
	*supervisor.Attended
	run *run
	log *denial.Log
}

// Hooks are told of the course of a supervised run.
type Hooks struct {
	// Live gets every event of a run in which operations can be granted.
	Live func(live.Event)
	// Refused gets a line of JSON for every refusal, up to maxLines bytes of them. Before Wait
	// returns a last one says how many there were beyond, if any.
	Refused func(line []byte)
}

// maxLines bounds the lines about the refusals of one run, in bytes.
const maxLines = 16 << 20

// Attend starts a tool of a plan that needs a supervisor, and supervises it. No other tool of the crew has its mark. The error
// is an *Error; then the tool has not run, and nothing is left behind.
func (p *Plan) Attend(s *Site, req Request, id Identity, files [3]int, on Hooks) (*Attended, error) {
	if p.ask {
		req.Ask = &Ask{Tell: on.Live}
	}
	r, err := p.run(s, &req, id, files)
	if err != nil {
		return nil, err
	}
	a := &Attended{run: r, log: denial.NewLogTo(on.Refused, maxLines)}
	c, err := r.apart()
	c.Filter = p.traps
	var spawner *supervisor.Spawner
	if err == nil {
		spawner, err = p.thread()
	}
	if err == nil {
		made := false
		a.Attended, err = s.Crew.Start(spawner, c, r.id.Mark, func() (*supervisor.Supervisor, error) {
			r.begun = time.Now()
			b, err := r.supervisor(a.log)
			if made = err == nil; made {
				r.session = b.Session()
			}
			return b, err
		})
		if err == nil {
			r.dropRuleset()
			return a, nil
		}
		if made {
			// The supervisor has closed them.
			r.grants.placements, r.egress = nil, nil
		}
		err = asStart(r.childFailed(err))
	}
	r.abandon()
	return nil, err
}

// errNothingAsked is the error of answers for a tool that asks nothing.
var errNothingAsked = errors.New("the tool was not started to ask")

// Answer answers a question of the tool, and is in force when it returns.
func (a *Attended) Answer(question int, answer live.Answer) error {
	if a.run.session == nil {
		return errNothingAsked
	}
	return a.run.session.Answer(question, answer)
}

// Revoke takes a grant back, by the number of its question.
func (a *Attended) Revoke(question int) error {
	if a.run.session == nil {
		return errNothingAsked
	}
	return a.run.session.Revoke(question)
}

// asStart gives an error the form of those of a start.
func asStart(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	return failed("%w", err)
}

// Wait waits until the tool and all that it has left running have ended, and removes what is left of the
// run. over is called at the end of the tool's process.
func (a *Attended) Wait(over func()) Ended {
	end := a.Attended.Wait(over)
	ended := time.Now()
	_ = a.log.Close()
	out := Ended{End: end, Refused: a.log.Counted()}
	if l := a.run.endedBy(end.Status, ended, time.Duration(end.Usage.Utime.Nano()+end.Usage.Stime.Nano())); l != nil {
		out.Limit = l.Kind
	}
	a.run.over()
	return out
}

// Close frees what the supervisor of a tool that has ended has open, and returns whether it could. The ruleset of the next
// start is made behind that: while the tool runs its calls wait for this process.
func (a *Attended) Close() bool {
	ok := a.Attended.Close()
	a.run.lay()
	return ok
}
