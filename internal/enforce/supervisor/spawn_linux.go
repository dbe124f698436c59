package supervisor

import (
	"errors"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// StartError is the failure to start a tool.
type StartError struct {
	// Step names the step that failed; Exec is true when it is the program itself.
	Step string
	Exec bool
	Err  error
}

// Error implements error.
func (e *StartError) Error() string { return e.Step + ": " + e.Err.Error() }

// Unwrap implements the errors convention.
func (e *StartError) Unwrap() error { return e.Err }

// inheritsIgnored reports whether this process was started with a signal ignored, as
// under nohup(1); a tool inherits that.
func inheritsIgnored(s syscall.Signal) bool { return signal.Ignored(s) }

// Clone starts the child that becomes the tool once Run or Attend lets it. Until then it puts
// the sandbox in force on itself, and the caller may prepare. It must be called on a thread
// that lasts: the tool dies with it (PR_SET_PDEATHSIG in prctl(2)).
func Clone(c Child) (*Tool, error) {
	runtime.LockOSThread()
	if !c.Unsupervised {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return nil, failed("PR_SET_CHILD_SUBREAPER", err)
		}
	}
	var up, down [2]int
	if err := errors.Join(unix.Pipe2(up[:], unix.O_CLOEXEC), unix.Pipe2(down[:], unix.O_CLOEXEC)); err != nil {
		return nil, failed("pipe", err)
	}
	p := &program{in: uintptr(down[0]), out: uintptr(up[1])}
	p.task.PIDFD = &p.process
	if err := c.assemble(p); err != nil {
		return nil, err
	}
	if e := p.clone(unix.CLONE_VM | uintptr(unix.SIGCHLD)); e != 0 {
		return nil, failed("clone", e)
	}
	_, _ = unix.Close(up[1]), unix.Close(down[0])
	return &Tool{program: p, reports: up[0], permit: down[1]}, nil
}

// Become confines this thread and turns this process into the tool. The goroutine must keep to the thread. It returns
// only when that failed.
func Become(c Child) error {
	p := &program{here: true}
	if err := c.assemble(p); err != nil {
		return err
	}
	for i := range p.steps {
		if e, ok := p.take(&p.steps[i]); !ok {
			return p.steps[i].failure(e)
		}
	}
	return &StartError{Step: stepExec, Exec: true, Err: syscall.Exec(c.File, c.Argv, c.Env)}
}

// Kill ends a tool that was not let go.
func (t *Tool) Kill() { _ = unix.Kill(t.pid, unix.SIGKILL) }

// Run lets the tool go, answers its calls until it ends, kills the processes that it has left
// running and returns how it ended.
func (s *Supervisor) Run(t *Tool) (syscall.WaitStatus, error) {
	stop := t.forward()
	if err := s.start(t); err != nil {
		stop()
		return 0, err
	}
	late := s.limited(t)
	status := t.wait(s.stops.deliver)
	// From here on another process may get the number of the tool.
	late()
	stop()
	s.egress.flush()
	t.finish()
	s.objects.close()
	s.queues.close()
	s.pairs.end()
	s.locked.clear()
	return status, nil
}

// limited kills the tool when its time is over, if it has one, unless the returned function is
// called before. The end of a tool that another of its processes traces does not reach this
// process until the tracer has waited for it or is gone (ptrace(2)), so the tracer is killed as well: the first
// process of a container can be ended by no other.
func (s *Supervisor) limited(t *Tool) (stop func()) {
	if t.ends = s.ends; s.ends.IsZero() {
		return func() {}
	}
	over := make(chan struct{})
	timer := time.AfterFunc(time.Until(s.ends), func() {
		for _ = unix.Kill(t.pid, unix.SIGKILL); ; {
			if tracer, err := strconv.Atoi(status(t.pid, "TracerPid")); err == nil && s.sandbox.ours(tracer) {
				_ = unix.Kill(tracer, unix.SIGKILL)
			}
			select {
			case <-over:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	return func() {
		timer.Stop()
		close(over)
	}
}

// Tool is a child that becomes the tool, with the pipes for its reports and for the byte that
// it waits for.
type Tool struct {
	*program
	reports, permit int
	// ends is when it is killed, zero for never.
	ends time.Time
	// shared is set where this process has other tools: its standard descriptors stay open.
	shared bool
}

// close closes the pipes of a child that was not let go.
func (t *Tool) close() {
	for _, fd := range []*int{&t.reports, &t.permit} {
		if *fd >= 0 {
			_ = unix.Close(*fd)
		}
		*fd = -1
	}
}

func failed(step string, err error) error { return &StartError{Step: step, Err: err} }

// Attend lets the tool go, waits until it ends and returns how it ended. No supervisor answers
// for it: its filter must trap nothing. Processes that it leaves running go on.
func (t *Tool) Attend() (syscall.WaitStatus, error) {
	stop := t.forward()
	defer stop()
	if _, err := t.confined(); err != nil {
		return 0, err
	}
	if err := t.begin(); err != nil {
		return 0, err
	}
	return t.wait(func(int, syscall.WaitStatus) bool { return false }), nil
}

// start takes the listener of the child, serves it and lets the child go.
func (s *Supervisor) start(t *Tool) error {
	r, err := t.confined()
	if err != nil {
		return err
	}
	n, err := t.listener(r)
	if err != nil {
		t.Kill()
		return err
	}
	s.serve(listener(n), t.pid)
	return t.begin()
}

// confined waits until the child has reported that its filter is in force. The child then
// waits.
func (t *Tool) confined() (*report, error) {
	r, err := t.report()
	if err == nil && r == nil {
		err = failed("the clone", errors.New("ended before the sandbox was in force"))
	}
	if err != nil {
		t.Kill()
	}
	return r, err
}

// listener takes the listener from the child.
func (t *Tool) listener(r *report) (int, error) {
	n, err := unix.PidfdGetfd(int(t.process), int(r.errno), 0)
	if err != nil {
		return -1, failed("pidfd_getfd", err)
	}
	return n, nil
}

// begin lets the child go on and waits until it has become the tool, which closes its end of
// the reports. Then this process gives up its own copies of the tool's input and output.
func (t *Tool) begin() error {
	defer t.close()
	_, err := unix.Write(t.permit, []byte{0})
	if err != nil {
		return failed("write", err)
	}
	if _, err = t.report(); err != nil || t.shared {
		return err
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	_, _, _ = unix.Dup3(null, 0, 0), unix.Dup3(null, 1, 0), unix.Close(null)
	return nil
}

// report reads one report, nil at their end, and turns reports of a failure into errors.
func (t *Tool) report() (*report, error) {
	r := &report{}
	buf := (*[unsafe.Sizeof(*r)]byte)(unsafe.Pointer(r))[:]
	var n int
	var err error
	for {
		if n, err = unix.Read(t.reports, buf); err != unix.EINTR {
			break
		}
	}
	switch {
	case err != nil:
		return nil, failed("the report of the clone", err)
	case n == 0:
		return nil, nil
	case r.step == ready:
		return r, nil
	}
	return nil, t.steps[r.step].failure(syscall.Errno(r.errno))
}
