package supervisor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
)

// stops hands the stops and ends of seized threads from the thread that waits for all children
// to the worker that seized them.
type stops struct {
	mu sync.Mutex
	by map[int]chan syscall.WaitStatus
}

// expect registers for the events of threads. It fails if another worker has done so.
func (s *stops) expect(ids ...int) (<-chan syscall.WaitStatus, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[int]chan syscall.WaitStatus{}
	}
	for _, id := range ids {
		if s.by[id] != nil {
			return nil, false
		}
	}
	events := make(chan syscall.WaitStatus, 4)
	for _, id := range ids {
		s.by[id] = events
	}
	return events, true
}

func (s *stops) forget(ids ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.by, id)
	}
}

// deliver passes an event on and reports whether a worker waits for it.
func (s *stops) deliver(id int, ws syscall.WaitStatus) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.by[id]
	if events == nil {
		return false
	}
	select {
	case events <- ws:
	default:
		// The worker reads no more than the first events.
	}
	return true
}

// seized is a thread that stops when it has become another program, or returns from the call
// without doing so.
type seized struct {
	thread, process int
	stops           *stops
	events          <-chan syscall.WaitStatus
	executed        bool
	forgotten       bool
}

// seize makes the caller of a pending call stop at the end of that call (ptrace(2)). The thread
// that seizes must also release. If this process dies before, the kernel kills the seized
// thread.
// See decision D56.
func (c programs) seize(process int) (*seized, unix.Errno) {
	if process == 0 {
		return nil, unix.ESRCH
	}
	makeRoom()
	events, ok := c.stops.expect(c.tid, process)
	if !ok {
		// Another thread of the process is starting a program, which ends all other threads.
		return nil, unix.EAGAIN
	}
	s := &seized{thread: c.tid, process: process, stops: &c.stops, events: events}
	const options = unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL
	if e := ptrace(unix.PTRACE_SEIZE, s.thread, 0, options); e != 0 {
		s.forget()
		return nil, unix.EACCES
	}
	// The stop is due once the thread is about to leave the kernel, unless it stops before as
	// the new program.
	if e := ptrace(unix.PTRACE_INTERRUPT, s.thread, 0, 0); e != 0 {
		_ = unix.Kill(process, unix.SIGKILL)
	}
	return s, 0
}

// ptrace makes a request. To seize a thread waits while another of its process starts a program (cred_guard_mutex,
// ptrace_attach() in kernel/ptrace.c), and a tool can make that last: the Go runtime has to know, or no tool of this
// process would be answered. See decision D56.
func ptrace(request, id int, addr, data uintptr) unix.Errno {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(id), addr, data, 0, 0)
	return e
}

// seizes returns an error if the traps require judging programs and this host does not allow
// it.
func seizes(traps []landlock.Trap) error {
	if !slices.ContainsFunc(traps, func(t landlock.Trap) bool { return t.Group == landlock.Programs }) {
		return nil
	}
	return seizable()
}

// seizable returns an error if ptrace(2) is refused, as by the profile of a container. The
// kernel first looks for the process, and there is none.
func seizable() error {
	const nobody = 1<<31 - 1
	if e := ptrace(unix.PTRACE_SEIZE, nobody, 0, 0); e != unix.ESRCH {
		return fmt.Errorf("ptrace(2), by which programs are judged, is refused here (%w)", e)
	}
	return nil
}

// id is the number of the thread: after a start the number of its process.
func (s *seized) id() int {
	if s.executed {
		return s.process
	}
	return s.thread
}

// stopped waits until the thread has stopped. It returns false if the thread was killed.
func (s *seized) stopped() bool {
	_, ok := s.next()
	return ok
}

const eventShift = 16 // ptrace(2): status>>16 is the event

// next waits for the next stop.
func (s *seized) next() (syscall.WaitStatus, bool) {
	ws := <-s.events
	if !ws.Stopped() {
		return ws, false
	}
	s.executed = s.executed || uint32(ws)>>eventShift == unix.PTRACE_EVENT_EXEC
	return ws, true
}

// release lets the thread run on by itself. After a start it has the number of its process. It
// may start the next program before this returns, so the wait for its events ends first.
func (s *seized) release() {
	s.forget()
	if ptrace(unix.PTRACE_DETACH, s.id(), 0, 0) != 0 {
		s.kill()
	}
}

func (s *seized) kill() { _ = unix.Kill(s.process, unix.SIGKILL) }

// forget ends the wait for events, once: the thread may be seized again by then.
func (s *seized) forget() {
	if !s.forgotten {
		s.forgotten = true
		s.stops.forget(s.thread, s.process)
	}
}

// proc reads a file about the stopped process.
func (s *seized) proc(name string) (string, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(s.process) + "/" + name)
	return string(data), err
}

// arguments are the arguments that the program starts with.
func (s *seized) arguments() ([]string, error) {
	text, err := s.proc("cmdline")
	if err != nil {
		return nil, err
	}
	text, ok := strings.CutSuffix(text, "\x00")
	if !ok {
		return nil, errors.New("no arguments")
	}
	return strings.Split(text, "\x00"), nil
}

// path is the name by which the kernel has opened the program (AT_EXECFN, getauxval(3)).
func (s *seized) path() (string, error) {
	aux, err := s.proc("auxv")
	if err != nil {
		return "", err
	}
	const entry, execfn = 16, 31
	for pair := range slices.Chunk([]byte(aux), entry) {
		if len(pair) < entry || binary.LittleEndian.Uint64(pair) != execfn {
			continue
		}
		return s.text(binary.LittleEndian.Uint64(pair[8:]))
	}
	return "", errors.New("no AT_EXECFN")
}

// text reads a string of the program that is no longer than a path.
func (s *seized) text(at uint64) (string, error) {
	buf := make([]byte, pathMax)
	// The memory behind the string may not be mapped; the call returns the part that is.
	n, err := unix.ProcessVMReadv(s.process, []unix.Iovec{iovec(buf)}, parts(at, len(buf)), 0)
	if err != nil {
		return "", err
	}
	text, _, ok := bytes.Cut(buf[:n], []byte{0})
	if !ok {
		return "", unix.ENAMETOOLONG
	}
	return string(text), nil
}

// parts divides a range of memory at the borders of pages, since a part is read whole or
// not at all (process_vm_readv(2)).
func parts(at uint64, n int) []unix.RemoteIovec {
	var out []unix.RemoteIovec
	for n > 0 {
		size := min(n, pathMax-int(at%pathMax))
		out = append(out, unix.RemoteIovec{Base: uintptr(at), Len: size})
		at, n = at+uint64(size), n-size
	}
	return out
}
