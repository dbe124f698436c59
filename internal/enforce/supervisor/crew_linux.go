package supervisor

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/process/once"
)

// Crew supervises many tools in one process, which does nothing else: it is the reaper of all
// orphans, and takes the ends and stops of all processes below it. Each tool has a Supervisor of its
// own, and a mark that tells its processes from the processes of other tools.
// See decision D228.
type Crew struct {
	mu     sync.Mutex
	born   *sync.Cond
	births int
	tools  map[int]*Attended
}

// Attended is a tool of a crew.
type Attended struct {
	tool *Tool
	by   *Supervisor
	mark *Mark
	end  chan End
}

// End is how a tool has ended, with the resources that it and the processes that it waited for have
// used.
type End struct {
	Status syscall.WaitStatus
	Usage  syscall.Rusage
}

// NewCrew makes this process a crew.
func NewCrew() (*Crew, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, failed("PR_SET_CHILD_SUBREAPER", err)
	}
	c := &Crew{tools: map[int]*Attended{}}
	c.born = sync.NewCond(&c.mu)
	go c.reap()
	return c, nil
}

// Start starts a tool from the thread of a spawner. While the child is made and confines itself, prepare makes
// its supervisor.
func (c *Crew) Start(from *Spawner, child Child, m *Mark, prepare func() (*Supervisor, error)) (*Attended, error) {
	a := &Attended{mark: m, end: make(chan End, 1)}
	var failed error
	cloned := from.do(func() { a.tool, failed = c.clone(child, a) })
	s, err := prepare()
	cloned()
	if failed != nil {
		if err == nil {
			s.Close()
		}
		return nil, failed
	}
	if err == nil {
		c.mu.Lock()
		a.by = s
		c.mu.Unlock()
		s.polls = !endsReceive()
		err = s.start(a.tool)
	}
	if err != nil {
		a.abandon()
		return nil, err
	}
	return a, nil
}

// clone starts the child and registers it before its end can be seen.
func (c *Crew) clone(child Child, a *Attended) (*Tool, error) {
	var up, down [2]int
	if err := unix.Pipe2(up[:], unix.O_CLOEXEC); err != nil {
		return nil, failed("pipe", err)
	}
	if err := unix.Pipe2(down[:], unix.O_CLOEXEC); err != nil {
		_, _ = unix.Close(up[0]), unix.Close(up[1])
		return nil, failed("pipe", err)
	}
	defer func() { _, _ = unix.Close(up[1]), unix.Close(down[0]) }()
	p := &program{in: uintptr(down[0]), out: uintptr(up[1])}
	p.task.PIDFD = &p.process
	err := child.assemble(p)
	flags := uintptr(unix.CLONE_VM)
	if child.Join != nil {
		// When the group is short of memory the kernel kills all that have the child's.
		flags = 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		if e := p.clone(flags | uintptr(unix.SIGCHLD)); e != 0 {
			err = failed("clone", e)
		}
	}
	if err != nil {
		_, _ = unix.Close(up[0]), unix.Close(down[1])
		return nil, err
	}
	c.tools[p.pid] = a
	c.births++
	c.born.Signal()
	return &Tool{program: p, reports: up[0], permit: down[1], shared: true}, nil
}

// abandon ends a tool that was not let go, or did not become the program.
func (a *Attended) abandon() {
	_ = a.Signal(unix.SIGKILL)
	<-a.end
	_ = unix.Close(int(a.tool.process))
	a.tool.close()
	if a.by != nil {
		a.by.finish(a)
		a.by.Close()
	}
}

// PID is the number of the tool's process.
func (a *Attended) PID() int { return a.tool.pid }

// Signal sends a signal to the tool's process.
func (a *Attended) Signal(s syscall.Signal) error {
	return unix.PidfdSendSignal(int(a.tool.process), s, nil, 0)
}

// Wait waits until the tool has ended, kills the processes that it has left running, and returns how
// it ended. over, if not nil, is called at the end of the tool's process, whose number another process
// may then get.
func (a *Attended) Wait(over func()) End {
	late := a.by.limited(a.tool)
	end := <-a.end
	late()
	over()
	_ = unix.Close(int(a.tool.process))
	a.by.egress.flush()
	a.by.pairs.end()
	a.by.finish(a)
	a.by.locked.clear()
	return end
}

// finish kills the processes that a tool has left running, until the kernel says that none has its
// filter any more.
func (s *Supervisor) finish(a *Attended) {
	defer s.objects.close()
	defer s.queues.close()
	if s.listener == 0 {
		return
	}
	for end := time.Now().Add(maxFinish); s.listener.poll()&unix.POLLHUP == 0 && time.Now().Before(end); {
		for range quickLooks {
			s.endThose(a, orphans())
		}
		s.endThose(a, allProcesses())
		time.Sleep(time.Millisecond)
	}
}

// endThose kills the processes of a tool among some.
func (s *Supervisor) endThose(a *Attended, some []int) {
	for _, pid := range some {
		KillIf(pid, func() bool { return a.mark == nil && s.sandbox.ours(pid) || a.mark != nil && a.mark.Carries(pid) })
	}
}

// KillIf kills a process if is says so. Another process may get its number between the question and the signal, at once
// where processes of a tool have nearly all numbers, so the signal goes to the process that had the number before the
// question.
func KillIf(pid int, is func() bool) {
	if !is() {
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if is() {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

// allProcesses lists all processes.
func allProcesses() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// reap takes the ends and stops of all processes below this process.
func (c *Crew) reap() {
	seen := 0
	for {
		var end End
		pid, err := syscall.Wait4(-1, &end.Status, 0, &end.Usage)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			// There is no child until the next start.
			c.mu.Lock()
			for c.births == seen {
				c.born.Wait()
			}
			seen = c.births
			c.mu.Unlock()
		default:
			c.deliver(pid, end)
		}
	}
}

// deliver hands the end or stop of a process to whoever waits for it.
func (c *Crew) deliver(pid int, end End) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.tools {
		if a.by != nil && a.by.stops.deliver(pid, end.Status) {
			break
		}
	}
	if a := c.tools[pid]; a != nil && !end.Status.Stopped() {
		delete(c.tools, pid)
		a.end <- end
	}
}

// Close frees everything that the supervisor of a tool that has ended has open, and returns whether it
// could: a call that waits for another process, such as opening a FIFO, goes on waiting.
func (a *Attended) Close() bool { return a.by.Close() }

// maxClose is how long the threads of a supervisor may take to end with the tool.
const maxClose = 5 * time.Second

// Close implements Attended.Close.
func (s *Supervisor) Close() bool {
	if s.egress != nil {
		_ = unix.Shutdown(s.egress.Control, unix.SHUT_RDWR)
	}
	done := make(chan struct{})
	go func() {
		s.busy.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(maxClose):
		return false
	}
	s.free()
	return true
}

// free closes the descriptors.
func (s *Supervisor) free() {
	fds := []int{s.sandbox.procfs, s.sandbox.root, s.sandbox.shared.dir, s.sandbox.terminal.pin}
	if s.listener > 0 {
		fds = append(fds, int(s.listener))
	}
	if s.egress != nil {
		fds = append(fds, s.egress.Control)
	}
	for _, p := range s.placements {
		fds = append(fds, p.FD)
	}
	for _, g := range s.sandbox.given {
		if g.known {
			fds = append(fds, g.held)
		}
	}
	s.images.used.close()
	for _, i := range s.images.list {
		fds = append(fds, i.fd)
	}
	if s.trampoline.made {
		fds = append(fds, s.trampoline.fd)
	}
	for _, fd := range fds {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	if s.domains != nil {
		for _, d := range s.domains.by {
			_ = d.ruleset.Close()
		}
	}
}

// endsReceive reports whether a wait for calls ends when no process is left that could make one
// (seccomp_notify_recv() in kernel/seccomp.c, Linux 6.11).
func endsReceive() bool {
	return endsReceiveOnce.Get(func() bool {
		var uts unix.Utsname
		if unix.Uname(&uts) != nil {
			return false
		}
		major, rest, _ := strings.Cut(unix.ByteSliceToString(uts.Release[:]), ".")
		minor, _, _ := strings.Cut(rest, ".")
		a, err := strconv.Atoi(major)
		b, err2 := strconv.Atoi(strings.TrimRight(minor, "-+abcdefghijklmnopqrstuvwxyz"))
		return err == nil && err2 == nil && (a > 6 || a == 6 && b >= 11)
	})
}

var endsReceiveOnce once.Value[bool]
