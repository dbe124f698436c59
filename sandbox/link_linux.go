package sandbox

import (
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/enforce/supervisor"
)

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
	// environ is that of the latest start, which is not sent again.
	environ []string

	mu sync.Mutex
	// runs are those that the helper was asked for.
	runs map[uint64]*attended
	// claimed is set when a helper that can have one tool alone has had it, worn when it should get no
	// more, down when it has ended. left is set once the last order is given.
	claimed, worn, down, left bool
}

// maxHello is how long a helper may take until it serves.
var maxHello = 20 * time.Second

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
	// Now the helper alone has its end, whose close says that it has died.
	_ = theirs.Close()
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

// errRetired is the error of a helper that has left since it was chosen, or is full.
var errRetired = errors.New("sandbox: the helper has left")

// maxTogether is how many tools a helper has at a time. Each can hold 256 of its threads by calls that wait for another process
// or an answer, and 32 by others, and the Go runtime ends a process with more than 10,000 (debug.SetMaxThreads).
// See decision D229.
const maxTogether = 32

func (l *link) usable() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.worn && !l.down && !l.left && len(l.runs) < maxTogether
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
	if l.down || l.left || len(l.runs) >= maxTogether {
		l.mu.Unlock()
		return errRetired
	}
	c.id = l.identity()
	l.runs[c.run] = c
	l.mu.Unlock()
	l.asking.Lock()
	defer l.asking.Unlock()
	err := l.teach(p)
	if err == nil {
		w := &wanted{Name: c.id.Name, Program: []byte(req.Program), Args: req.Args, Call: carried(req.Call), Environ: req.Environ, Dir: []byte(req.Dir)}
		if c.id.Mark != nil {
			w.Mark = c.id.Mark.String()
		}
		if w.Same = l.environ != nil && slices.Equal(l.environ, req.Environ); w.Same {
			w.Environ = nil
		}
		err = l.send(order{Kind: orderStart, Run: c.run, Plan: p.id, Tells: c.told != nil, Request: w}, fds[:]...)
		if err == nil && !w.Same {
			l.environ = slices.Clone(req.Environ)
		}
	}
	if err != nil {
		l.forget(c)
	}
	return err
}

// identity draws that of a run. No other run of the helper has its mark. Called with the lock held.
func (l *link) identity() start.Identity {
	id := start.NewIdentity()
	for free := !l.shares; !free; {
		id.Mark, free = supervisor.DrawMark(), true
		for _, other := range l.runs {
			free = free && *other.id.Mark != *id.Mark
		}
	}
	return id
}

// teach sends a plan that the helper does not know. One that knows many gets no further tools.
func (l *link) teach(p *plan) error {
	if l.plans[p.id] {
		return nil
	}
	o := order{Kind: orderPlan, Plan: p.id, Artifact: p.text, Under: p.under, Accept: p.accept, Ask: p.ask}
	if err := l.send(o); err != nil {
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
