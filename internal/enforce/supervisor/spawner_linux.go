package supervisor

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Spawner starts children in a process that goes on and does other things. A thread of its own
// clones them, and lasts as long as the spawner: they die with it (PR_SET_PDEATHSIG in prctl(2)).
type Spawner struct {
	work chan func()
	// shared is memory that a clone has in common with this process also where it is a copy.
	shared []byte
	fault  *report
}

// NewSpawner starts the thread and takes its privileges from it by drop. No other thread is
// changed.
func NewSpawner(drop func() error) (*Spawner, error) {
	shared, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		return nil, failed("mmap", err)
	}
	s := &Spawner{work: make(chan func()), shared: shared, fault: (*report)(unsafe.Pointer(&shared[0]))}
	ready := make(chan error)
	go func() {
		// Not unlocked: the thread ends with this goroutine.
		runtime.LockOSThread()
		err := drop()
		ready <- err
		for do := range s.work {
			do()
		}
		_ = unix.Munmap(s.shared)
	}()
	if err := <-ready; err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the thread, and with it all children.
func (s *Spawner) Close() { close(s.work) }

// do has the thread do something. The returned function waits until it is done.
func (s *Spawner) do(act func()) (wait func()) {
	done := make(chan struct{})
	s.work <- func() {
		act()
		close(done)
	}
	return func() { <-done }
}

// Spawn starts a child that needs no supervisor, and returns when it has become the tool.
func (s *Spawner) Spawn(c Child) (*os.Process, error) {
	p := &program{alone: true}
	if err := c.assemble(p); err != nil {
		return nil, err
	}
	var err error
	s.do(func() { err = s.start(p) })()
	if err != nil {
		return nil, err
	}
	return p.child()
}

// start clones the child and waits until it has executed the tool, without which it leaves a
// failure. With CLONE_VFORK the kernel does not choose the child when memory is short (oom_badness()
// in mm/oom_kill.c): it would kill this process as well, whose memory the child has.
// See decision D227.
func (s *Spawner) start(p *program) error {
	const none = -1
	*s.fault = report{step: none}
	p.fault = s.fault
	if e := p.clone(unix.CLONE_VM | unix.CLONE_VFORK | uintptr(unix.SIGCHLD)); e != 0 {
		return failed("clone", e)
	}
	if s.fault.step != none {
		p.failed = p.steps[s.fault.step].failure(syscall.Errno(s.fault.errno))
	}
	return nil
}

// child is the started process, which this thread may look at, although a filter could keep the other
// thread from it.
func (p *program) child() (*os.Process, error) {
	if p.failed != nil {
		var ws syscall.WaitStatus
		for {
			if _, err := syscall.Wait4(p.pid, &ws, 0, nil); err != syscall.EINTR {
				break
			}
		}
		return nil, p.failed
	}
	child, err := os.FindProcess(p.pid)
	if err != nil {
		_ = unix.Kill(p.pid, unix.SIGKILL)
		return nil, failed("the process", err)
	}
	return child, nil
}

// Filter has a Spawner's thread, and so every child of it, run under a filter for good. The filter must
// let the child take its steps.
// See decision D227.
func Filter(filter []unix.SockFilter) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
		uintptr(unsafe.Pointer(prog))); e != 0 {
		return e
	}
	return nil
}
