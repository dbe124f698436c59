package sandbox

import (
	"errors"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/start"
	"github.com/accessc/accessc/internal/supervisor"
	"github.com/accessc/accessc/internal/supervisor/live"
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
	p.plan, err = start.NewPlan(p.spec, h.config.Accept, p.ask, h.messages)
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
	defer closeAll(above[:])
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
	for i, fd := range fds {
		if out[i], err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3); err != nil {
			closeAll(out[:i])
			return out, err
		}
	}
	return out, nil
}

// spawned is a tool that nothing supervises.
type spawned struct {
	engine *engine
	*start.Spawned
}

func (s *spawned) pid() int                   { return s.Pid }
func (s *spawned) supervised() bool           { return false }
func (s *spawned) signal(sig os.Signal) error { return s.Process.Signal(sig) }

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

// supervised has a helper start a tool. See RATIONALE D228.
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
	c := &attended{link: l, engine: e, run: e.number(), told: told, started: make(chan error, 1), end: make(chan end, 1)}
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
	if e.base != "" {
		start.RemoveRuns(e.base)
	}
	return nil
}

// link is the host's end of a helper.
type link struct {
	wire
	process *os.Process
	files   syscall.Rlimit
	shares  bool

	// plans are those that the helper knows. asking is held from the look into them to the start, which
	// must come after its plan.
	asking sync.Mutex
	plans  map[uint64]bool

	mu sync.Mutex
	// runs are those that the helper was asked for.
	runs map[uint64]*attended
	// claimed is set when a helper that can have one tool alone has had it, worn when it should get no
	// more, down when it has ended. left is set once the last order is given.
	claimed, worn, down, left bool
}

// maxHello is how long a helper may take until it serves.
const maxHello = 20 * time.Second

// newLink starts a helper.
func newLink(base string) (*link, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "helper"), os.NewFile(uintptr(pair[1]), "host")
	defer ours.Close()
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	process, err := os.StartProcess("/proc/self/exe", []string{marker, helperCommand, base}, &os.ProcAttr{
		Dir: "/", Env: os.Environ(), Files: []*os.File{null, null, messagesOf(null), theirs},
	})
	if err != nil {
		return nil, err
	}
	conn, err := net.FileConn(ours)
	l := &link{process: process, plans: map[uint64]bool{}, runs: map[uint64]*attended{}}
	if err == nil {
		l.conn = conn.(*net.UnixConn)
		err = l.hello()
	}
	if err != nil {
		_ = process.Kill()
		_, _ = process.Wait()
		return nil, err
	}
	return l, nil
}

// messagesOf is standard error, or another file where the host has none.
func messagesOf(other *os.File) *os.File {
	if _, err := unix.FcntlInt(2, unix.F_GETFD, 0); err != nil {
		return other
	}
	return os.Stderr
}

// hello waits until the helper serves.
func (l *link) hello() error {
	_ = l.conn.SetReadDeadline(time.Now().Add(maxHello))
	var n news
	if _, err := l.receive(&n); err != nil {
		return err
	}
	if n.Kind != newsHello {
		return errFrame
	}
	l.files, l.shares = syscall.Rlimit{Cur: n.Soft, Max: n.Hard}, n.Shares
	return l.conn.SetReadDeadline(time.Time{})
}

// errRetired is the error of a helper that has left since it was chosen.
var errRetired = errors.New("sandbox: the helper has left")

func (l *link) usable() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.worn && !l.down && !l.left
}

// claim takes a helper for one tool.
func (l *link) claim() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.claimed
	l.claimed = true
	return !was
}

// retire has the helper end when it has no tool any more.
func (l *link) retire() {
	l.mu.Lock()
	l.worn = true
	leaves := len(l.runs) == 0 && !l.left
	l.left = l.left || leaves
	l.mu.Unlock()
	if leaves {
		_ = l.send(order{Kind: orderLeave})
	}
}

// start asks for a tool. The plan goes first, once.
func (l *link) start(c *attended, p *plan, req *start.Request, fds [3]int) error {
	l.mu.Lock()
	if l.down || l.left {
		l.mu.Unlock()
		return errRetired
	}
	l.runs[c.run] = c
	l.mu.Unlock()
	l.asking.Lock()
	defer l.asking.Unlock()
	err := l.teach(p)
	if err == nil {
		err = l.send(order{Kind: orderStart, Run: c.run, Plan: p.id, Tells: c.told != nil, Request: &wanted{
			Program: req.Program, Args: req.Args, Call: carried(req.Call), Environ: req.Environ, Dir: req.Dir,
		}}, fds[:]...)
	}
	if err != nil {
		l.forget(c)
	}
	return err
}

// teach sends a plan that the helper does not know. One that knows many gets no further tools.
func (l *link) teach(p *plan) error {
	if l.plans[p.id] {
		return nil
	}
	if err := l.send(order{Kind: orderPlan, Plan: p.id, Artifact: p.text, Accept: p.accept, Ask: p.ask}); err != nil {
		return err
	}
	l.plans[p.id] = true
	if len(l.plans) >= maxPlans {
		l.retire()
	}
	return nil
}

// forget takes a run off the list. A helper that gets no further tools ends with the last one.
func (l *link) forget(c *attended) {
	l.mu.Lock()
	delete(l.runs, c.run)
	last := l.worn && len(l.runs) == 0
	l.mu.Unlock()
	if last || !l.shares {
		l.retire()
	}
}

// read takes news until the helper ends. Then every tool of it is dead or dying, and its remains are
// removed here.
func (l *link) read() {
	for {
		var n news
		if _, err := l.receive(&n); err != nil {
			break
		}
		l.mu.Lock()
		c := l.runs[n.Run]
		l.mu.Unlock()
		switch {
		case n.Kind == newsWorn:
			l.retire()
		case c != nil:
			c.hear(&n)
		}
	}
	l.mu.Lock()
	l.down = true
	runs := l.runs
	l.runs = map[uint64]*attended{}
	l.mu.Unlock()
	_ = l.conn.Close()
	_ = l.process.Kill()
	_, _ = l.process.Wait()
	for _, c := range runs {
		c.lost()
	}
}

// attended is a tool of a helper.
type attended struct {
	link    *link
	engine  *engine
	run     uint64
	number  int
	told    func(told)
	replies map[uint64]chan error
	left    []string
	started chan error
	end     chan end
	begun   bool
}

// end is how a tool of a helper has ended, err why that is not known.
type end struct {
	start.Ended
	err error
}

// hear takes news of the tool, on the goroutine that reads.
func (a *attended) hear(n *news) {
	switch n.Kind {
	case newsMade:
		a.left = n.Left
	case newsStarted:
		a.number, a.begun = n.PID, true
		a.started <- nil
	case newsFailed:
		a.link.forget(a)
		a.started <- &start.Error{Code: n.Code, Err: errors.New(n.Text), Unmet: n.Gaps}
	case newsRefused:
		a.told(told{line: n.Line})
	case newsLive:
		if q := questionOf(n.Live); q != nil {
			a.told(told{question: q})
		}
	case newsReply:
		a.reply(n.Reply, n.Text)
	case newsEnded:
		a.link.forget(a)
		a.unanswered()
		a.end <- end{Ended: *n.End}
	case newsHello, newsWorn:
	}
}

// lost ends a tool whose helper has ended.
func (a *attended) lost() {
	a.unanswered()
	if len(a.left) > 0 {
		_ = start.Sweep(a.left[0], a.left[1:]...)
	}
	if !a.begun {
		a.started <- ErrSupervisorEnded
		return
	}
	a.end <- end{start.Ended{End: supervisor.End{Status: syscall.WaitStatus(unix.SIGKILL)}}, ErrSupervisorEnded}
}

// errLate is the outcome of an answer to a tool that has ended meanwhile.
var errLate = os.ErrProcessDone

// order sends an order and waits for its outcome.
func (a *attended) order(o order) error {
	out := make(chan error, 1)
	o.Run, o.Reply = a.run, a.engine.number()
	a.link.mu.Lock()
	if a.link.runs[a.run] == nil {
		a.link.mu.Unlock()
		return errLate
	}
	if a.replies == nil {
		a.replies = map[uint64]chan error{}
	}
	a.replies[o.Reply] = out
	a.link.mu.Unlock()
	if err := a.link.send(o); err != nil {
		return err
	}
	return <-out
}

// reply gives the outcome of an order to the one who waits.
func (a *attended) reply(number uint64, text string) {
	a.link.mu.Lock()
	out := a.replies[number]
	delete(a.replies, number)
	a.link.mu.Unlock()
	switch {
	case out == nil:
	case text != "":
		out <- errors.New(text)
	default:
		out <- nil
	}
}

// unanswered ends the waits for outcomes that do not come.
func (a *attended) unanswered() {
	a.link.mu.Lock()
	defer a.link.mu.Unlock()
	for number, out := range a.replies {
		delete(a.replies, number)
		out <- errLate
	}
}

func (a *attended) answer(question int, answer Answer) error {
	return a.order(order{Kind: orderAnswer, Question: question, Answer: live.Answer(answer)})
}

func (a *attended) revoke(question int) error {
	return a.order(order{Kind: orderRevoke, Question: question})
}

func (a *attended) pid() int         { return a.number }
func (a *attended) supervised() bool { return true }

func (a *attended) signal(s os.Signal) error {
	sig, ok := s.(syscall.Signal)
	if !ok {
		return errors.New("sandbox: not a signal of this system")
	}
	a.link.mu.Lock()
	_, runs := a.link.runs[a.run]
	a.link.mu.Unlock()
	if !runs {
		return os.ErrProcessDone
	}
	return a.link.send(order{Kind: orderSignal, Run: a.run, Signal: int(sig)})
}

func (a *attended) wait() (State, error) {
	defer a.engine.untrack(a)
	e := <-a.end
	return stateOf(e.Ended), e.err
}

// questionOf is a question that comes or goes, nil for the other events of a run.
func questionOf(e *live.Event) *Question {
	if e == nil || e.Event != "question" && e.Event != "answer" && e.Event != "withdrawn" {
		return nil
	}
	return &Question{
		ID: e.ID, Operation: e.Operation, Path: e.Path, Rule: e.Rule, Grants: e.Grants, PID: e.PID, Name: e.Name, waits: e.Event == "question",
	}
}
