package sandbox

import (
	"errors"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/egress"
	egresswire "github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/enforce/start/inherited"
	"github.com/accessc/accessc/internal/enforce/supervisor"
)

// marker is argv[0] of the processes of the host's program that are this package's, and helperCommand
// the word behind it for the helper.
const (
	marker        = "accessc-sandbox"
	helperCommand = "helper"
)

// See decision D229.
func init() {
	if len(os.Args) < 2 || os.Args[0] != marker || elevated() {
		return
	}
	err := errors.New("not a command: " + os.Args[1])
	switch command := os.Args[1]; {
	case command == helperCommand && len(os.Args) == 3:
		err = help(os.Args[2])
	case command == start.SweepCommand && len(os.Args) > 2:
		err = start.Sweep(os.Args[2], os.Args[3:]...)
	case command == egresswire.Command:
		err = egress.Run(os.NewFile(3, "control"), os.NewFile(4, "setup"))
	}
	if err != nil {
		_, _ = os.Stderr.WriteString("accessc: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

// helper is the process that supervises the tools of a host.
type helper struct {
	*wire
	site *start.Site

	mu    sync.Mutex
	plans map[uint64]*start.Plan
	runs  map[uint64]*attending
	busy  sync.WaitGroup
	// environ is that of the latest start that had one, for the goroutine that takes the orders.
	environ []string
	// over is set when the host has ended.
	over bool
}

// attending is a run from the order to start it until its tool has ended.
type attending struct {
	// begun is closed when run is known, nil for a start that failed. A tool may ask before.
	begun chan struct{}
	run   *start.Attended
	// answers are those on their way to the tool. The host hears their outcome before the end.
	answers sync.WaitGroup
}

// signal sends the tool a signal, if it has begun. The helper's lock is held.
func (a *attending) signal(s syscall.Signal) {
	if a != nil && a.run != nil {
		_ = a.run.Signal(s)
	}
}

// help is the helper, base has the directories of its runs. It ends with its socket.
func help(base string) error {
	outlive()
	socket := os.NewFile(3, "host")
	conn, err := net.FileConn(socket)
	if err = errors.Join(err, socket.Close()); err != nil {
		return err
	}
	crew, err := supervisor.NewCrew()
	if err != nil {
		return err
	}
	files := inherited.Files()
	h := &helper{
		wire: &wire{conn: conn.(*net.UnixConn)}, plans: map[uint64]*start.Plan{}, runs: map[uint64]*attending{},
		site: &start.Site{Base: base, Name: marker, Files: files, Lasts: true, Crew: crew},
	}
	if err := h.send(news{Kind: newsHello, Soft: files.Cur, Hard: files.Max, Shares: supervisor.Marks()}); err != nil {
		start.RemoveRuns(base) // the host has been killed meanwhile
		return err
	}
	left := h.serve()
	h.end()
	if !left {
		start.RemoveRuns(base)
	}
	return nil
}

// outlive keeps signals of the terminal, which reach the host and the tools as well, from ending the
// helper. It catches them, since tools would inherit that they are ignored.
func outlive() {
	caught := make(chan os.Signal, 1)
	for _, s := range []os.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2} {
		if !signal.Ignored(s) {
			signal.Notify(caught, s)
		}
	}
	go func() {
		for range caught {
		}
	}()
}

// serve takes the orders of the host until it leaves or ends. It reports whether it has left.
func (h *helper) serve() (left bool) {
	for {
		var o order
		fds, err := h.receive(&o)
		if err != nil {
			return false
		}
		switch o.Kind {
		case orderPlan:
			h.plan(&o)
		case orderStart:
			h.complete(o.Request)
			a := &attending{begun: make(chan struct{})}
			h.mu.Lock()
			h.runs[o.Run] = a
			h.mu.Unlock()
			h.busy.Go(func() { h.start(&o, fds, a) })
			continue
		case orderSignal:
			h.mu.Lock()
			h.runs[o.Run].signal(syscall.Signal(o.Signal))
			h.mu.Unlock()
		case orderAnswer, orderRevoke:
			h.mu.Lock()
			a := h.runs[o.Run]
			if a != nil {
				a.answers.Add(1)
			}
			h.mu.Unlock()
			h.busy.Go(func() { h.answer(&o, a) })
		case orderLeave:
			return true
		}
		closeAll(fds)
	}
}

// complete gives a start the environment of the one before, where that is the same.
func (h *helper) complete(w *wanted) {
	switch {
	case w == nil:
	case w.Same:
		w.Environ = h.environ
	default:
		h.environ = w.Environ
	}
}

// answer has a question of a tool answered, or a grant revoked. The session may wait for calls that are
// judged.
func (h *helper) answer(o *order, a *attending) {
	err := os.ErrProcessDone
	if a != nil {
		defer a.answers.Done()
		<-a.begun
		switch {
		case a.run == nil:
		case o.Kind == orderRevoke:
			err = a.run.Revoke(o.Question)
		default:
			err = a.run.Answer(o.Question, o.Answer)
		}
	}
	n := news{Kind: newsReply, Run: o.Run, Reply: o.Reply}
	if err != nil {
		n.Text = err.Error()
	}
	_ = h.send(n)
}

func (h *helper) plan(o *order) {
	spec, err := start.Parse(o.Artifact)
	var p *start.Plan
	if err == nil {
		p, err = start.NewPlan(spec, o.Under, o.Accept, o.Ask, io.Discard)
	}
	if err != nil {
		return // a start of it fails
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.plans[o.Plan] = p
}

// begin starts a tool.
func (h *helper) begin(o *order, fds []int) (*start.Attended, error) {
	h.mu.Lock()
	p, over := h.plans[o.Plan], h.over
	h.mu.Unlock()
	switch {
	case p == nil:
		return nil, errors.New("the helper does not know the policy")
	case len(fds) != 3:
		return nil, errors.New("the helper did not get the descriptors of the tool; it may have too many")
	case o.Request == nil || over:
		return nil, errors.New("the helper ends")
	}
	return p.Attend(h.site, start.Request{
		Program: string(o.Request.Program), Args: o.Request.Args, Call: start.Call(o.Request.Call), Environ: o.Request.Environ,
		Dir: string(o.Request.Dir), Messages: io.Discard,
	}, o.Request.identity(), [3]int(fds), h.hooks(o))
}

// start starts a tool and stays until it has ended.
func (h *helper) start(o *order, fds []int, a *attending) {
	run, err := h.begin(o, fds)
	closeAll(fds)
	h.mu.Lock()
	a.run = run
	if err != nil {
		delete(h.runs, o.Run)
	} else if h.over {
		a.signal(unix.SIGKILL)
	}
	h.mu.Unlock()
	close(a.begun)
	if err != nil {
		n := news{Kind: newsFailed, Run: o.Run, Code: start.CodeFailed, Text: err.Error()}
		var e *start.Error
		if errors.As(err, &e) {
			n.Code, n.Text, n.Gaps = e.Code, e.Err.Error(), e.Unmet
		}
		_ = h.send(n)
		return
	}
	_ = h.send(news{Kind: newsStarted, Run: o.Run, PID: run.PID()})
	end := run.Wait(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.runs, o.Run)
	})
	a.answers.Wait()
	_ = h.send(news{Kind: newsEnded, Run: o.Run, End: &end})
	if !run.Close() {
		_ = h.send(news{Kind: newsWorn})
	}
}

// hooks tell the host of the course of a run. See decision D238.
func (h *helper) hooks(o *order) start.Hooks {
	hooks := start.Hooks{
		Live: func(e live.Event) {
			if questionOf(&e) != nil {
				_ = h.send(news{Kind: newsLive, Run: o.Run, Live: &e})
			}
		},
		Refused: func([]byte) {},
	}
	if o.Tells {
		hooks.Refused = func(line []byte) { _ = h.send(news{Kind: newsRefused, Run: o.Run, Line: line}) }
	}
	return hooks
}

// maxEnd is how long the helper waits for the ends of tools that it has killed.
const maxEnd = 15 * time.Second

// end kills all tools and waits until nothing is left of them.
func (h *helper) end() {
	h.mu.Lock()
	h.over = true
	for _, a := range h.runs {
		a.signal(unix.SIGKILL)
	}
	h.mu.Unlock()
	done := make(chan struct{})
	go func() {
		h.busy.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(maxEnd):
	}
}
