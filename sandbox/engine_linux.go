package sandbox

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
)

// ready is a plan as this system starts it.
type ready struct {
	plan   *start.Plan
	id     uint64
	accept []string
}

// prepare asks this host about the plan.
func (p *plan) prepare(h *Host) error {
	var err error
	p.plan, err = start.NewPlan(p.spec, p.under, h.config.Accept, p.ask, h.messages)
	p.id, p.accept = h.engine.number(), h.config.Accept
	return err
}

// drop frees a plan that is started no more.
func (p *plan) drop() {
	if p.plan != nil {
		p.plan.Close()
	}
}

// engine starts tools: those that nothing supervises as children of this process, the others by way
// of helpers.
type engine struct {
	mu sync.Mutex
	// base has the directories of all runs. It is made with the first helper.
	base string
	site *start.Site
	// now is the helper that gets further tools, nil for none.
	now    *link
	links  map[*link]bool
	last   uint64
	live   map[child]bool
	closed bool
	busy   sync.WaitGroup
	ends   sync.WaitGroup
}

func newEngine() *engine { return &engine{links: map[*link]bool{}, live: map[child]bool{}} }

func (e *engine) number() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	return e.last
}

// begin has Close wait for a start.
func (e *engine) begin() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	e.busy.Add(1)
	return nil
}

// track has Close end a tool.
func (e *engine) track(c child) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.live[c] = true
	e.ends.Add(1)
}

func (e *engine) untrack(c child) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.live, c)
	e.ends.Done()
}

// start starts a tool. told, if not nil, gets everything that its supervisor tells.
func (e *engine) start(p *plan, req start.Request, files [3]*os.File, told func(told)) (child, error) {
	if err := e.begin(); err != nil {
		return nil, err
	}
	defer e.busy.Done()
	defer runtime.KeepAlive(files)
	var fds [3]int
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	root := p.spec.Workspace
	l, err := e.helper(root)
	for err == nil && p.plan.Supervised() {
		c, refused := e.supervised(l, p, req, fds, told)
		if refused != errRetired {
			return c, refused
		}
		l, err = e.helper(root)
	}
	if err != nil {
		return nil, err
	}
	above, err := aboveStandard(fds)
	if err != nil {
		return nil, err
	}
	defer closeCopies(above)
	s, err := p.plan.Spawn(e.site, req, above)
	if err != nil {
		return nil, err
	}
	c := &spawned{e, s}
	e.track(c)
	return c, nil
}

// aboveStandard duplicates descriptors to numbers that are none of the standard ones: the child gives
// those away one after the other.
func aboveStandard(fds [3]int) (out [3]int, err error) {
	out = [3]int{-1, -1, -1}
	for i, fd := range fds {
		if same := slices.Index(fds[:i], fd); same >= 0 {
			out[i] = out[same]
		} else if out[i], err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3); err != nil {
			closeCopies(out)
			return out, err
		}
	}
	return out, nil
}

// closeCopies closes such descriptors, each once.
func closeCopies(fds [3]int) {
	for i, fd := range fds {
		if fd >= 0 && !slices.Contains(fds[:i], fd) {
			_ = unix.Close(fd)
		}
	}
}

// spawned is a tool that nothing supervises.
type spawned struct {
	engine *engine
	*start.Spawned
}

func (s *spawned) pid() int                   { return s.Pid }
func (s *spawned) supervised() bool           { return false }
func (s *spawned) signal(sig os.Signal) error { return s.Spawned.Signal(sig) }

func (s *spawned) answer(int, Answer) error { return errNotAsked }
func (s *spawned) revoke(int) error         { return errNotAsked }

func (s *spawned) wait() (State, error) {
	defer s.engine.untrack(s)
	end, err := s.Wait()
	if err != nil {
		return State{Status: -1}, err
	}
	return stateOf(start.Ended{End: end}), nil
}

// stateOf gives an end its public form.
func stateOf(e start.Ended) State {
	out := State{
		Status: e.Status.ExitStatus(), Refused: e.Refused, Limit: e.Limit,
		UserTime: time.Duration(e.Usage.Utime.Nano()), SystemTime: time.Duration(e.Usage.Stime.Nano()), MaxRSS: e.Usage.Maxrss << 10,
	}
	if e.Status.Signaled() {
		out.Status, out.Signal = -1, e.Status.Signal()
	}
	return out
}

// helper returns the helper for further tools, and starts one where there is none. root is the workspace.
func (e *engine) helper(root string) (*link, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now != nil && e.now.usable() {
		return e.now, nil
	}
	if e.base == "" {
		base, err := start.MakeBase(root)
		if err != nil {
			return nil, err
		}
		e.base = base
	}
	l, err := e.startHelper()
	if err != nil {
		return nil, errors.Join(errors.New("sandbox: the helper did not start"), err)
	}
	if e.now != nil {
		e.now.retire()
	}
	e.now = l
	return l, nil
}

// startHelper starts a helper. Called with the lock held, when there is a base.
func (e *engine) startHelper() (*link, error) {
	l, err := newLink(e.base)
	if err != nil {
		return nil, err
	}
	if e.site == nil {
		e.site = &start.Site{Base: e.base, Name: marker, Files: l.files, Lasts: true}
	}
	e.links[l] = true
	e.ends.Go(func() {
		l.read()
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.links, l)
	})
	return l, nil
}

// supervised has a helper start a tool. See decision D228.
func (e *engine) supervised(l *link, p *plan, req start.Request, fds [3]int, told func(told)) (child, error) {
	if !l.shares && !l.claim() {
		var err error
		e.mu.Lock()
		l, err = e.startHelper()
		e.mu.Unlock()
		if err != nil {
			return nil, err
		}
		l.claim()
	}
	c := &attended{link: l, engine: e, plan: p.plan, run: e.number(), told: told, started: make(chan error, 1), end: make(chan end, 1)}
	if err := l.start(c, p, &req, fds); err != nil {
		return nil, err
	}
	if err := <-c.started; err != nil {
		return nil, err
	}
	e.track(c)
	return c, nil
}

// close kills all tools and helpers and removes everything.
func (e *engine) close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.busy.Wait()
	e.mu.Lock()
	for c := range e.live {
		_ = c.signal(os.Kill)
	}
	for l := range e.links {
		l.retire()
	}
	e.mu.Unlock()
	e.ends.Wait()
	if e.site != nil {
		e.site.Close()
	}
	if e.base != "" {
		start.RemoveRuns(e.base)
	}
	return nil
}
