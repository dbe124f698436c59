package start

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start/seccomp"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/host/maximum"
	"github.com/accessc/accessc/ir"
)

// Plan is a specification that this host was asked about once, for any number of starts in a process
// that goes on. Everything that a start looks up on the disk it looks up itself.
type Plan struct {
	settled
	under  maximum.Stamp
	accept []string
	ask    bool
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
// specification must have been made for it (Asking). under is Request.Under. The error is an *Error.
func NewPlan(spec *Spec, under maximum.Stamp, accept []string, ask bool, messages io.Writer) (*Plan, error) {
	asked := ""
	if ask {
		asked = "to be asked a tool"
	}
	terms, err := settleHere(&Request{Spec: spec, Under: under, Accept: accept, Messages: messages}, asked)
	if err != nil {
		return nil, err
	}
	p := &Plan{settled: terms, under: under, accept: accept, ask: ask, view: envView(&spec.Launch, ir.Linux)}
	if p.supervised {
		p.filter, p.traps, err = seccomp.Divide(p.rules(), p.abi)
	} else {
		p.filter, err = seccomp.Assemble(p.rules(), p.abi)
	}
	if err == nil && p.supervised {
		p.policy, err = supervisor.ReadPolicy(spec)
	}
	if err != nil {
		return nil, failed("%w", err)
	}
	p.canary = p.findCanary()
	return p, nil
}

// Supervised reports whether the tool needs a supervisor.
func (p *Plan) Supervised() bool { return p.supervised }

// begin prepares a start with the tool's standard descriptors. The tool has not started, and after an
// error nothing is left of it.
func (p *Plan) begin(site *Site, req *Request, id Identity, files [3]int) (*starting, error) {
	if err := checkDescriptors(files[:]...); err != nil {
		return nil, err
	}
	req.Under = p.under
	if err := req.within(); err != nil {
		return nil, err
	}
	if err := p.keepsOff(site.Base); err != nil {
		return nil, err
	}
	req.Spec, req.Accept = p.spec, p.accept
	s := newStarting(&run{settled: p.settled, req: req, id: id, site: site, launch: p.spec.Launch, files: &files})
	s.confinement.filter, s.confinement.canary, s.confinement.ahead = p.filter, p.canary, &p.ahead
	s.program.view, s.program.passed = p.view, p.passes(req.Environ)
	s.supervision.policy = p.policy
	err := req.carry(&s.launch)
	if err == nil {
		s.context, err = p.contextOf(s.run)
	}
	if err == nil {
		err = s.prepare()
	}
	if err != nil {
		s.abandon()
		return nil, err
	}
	return s, nil
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
		probe := run{settled: p.settled, directories: directories{tmp: base + "/" + runPrefix}}
		if by := probe.writes(base); by != "" {
			p.exposed = failed("the directories of runs are in %s, where %s lets the tool write; let TMPDIR be elsewhere", base, by)
		}
	})
	return p.exposed
}

// contextOf is the file of the Context that a run shares with the others of the plan. A supervised
// tool has one of its own, in the temporary directory: the policy says nothing about other places. So has
// one with a call. See decision D236.
func (p *Plan) contextOf(r *run) (string, error) {
	if p.supervised || r.launch.Context != p.spec.Launch.Context {
		return "", nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.context == "" {
		file := r.site.Base + "/" + rand.Text() + ".json"
		if err := writeContext(file, &r.launch); err != nil {
			return "", err
		}
		p.context = file
	}
	return p.context, nil
}

// Remains are the words by which Sweep removes all remains of a supervised run with its directories in base.
func (p *Plan) Remains(base string, id Identity) (dir string, further []string) {
	group := ""
	if p.place.dir != "" {
		group = filepath.Join(p.place.dir, id.Name)
	}
	shared := filepath.Join(sharedMemory, id.Name)
	return filepath.Join(base, id.Name), append([]string{survivors}, beside(group, shared, id.Mark)...)
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
