package supervisor

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// seats bound how many workers wait for calls at a time. A call wakes all of them, and all
// except one in vain (recv_wake_function() in kernel/seccomp.c). So there is one seat for a
// tool that makes its calls one after the other, whose thread and worker take turns on one
// processor. A tool that makes several at a time gets more: else each call would have one
// worker wake another. See decision D230.
type seats struct {
	// more is the number of seats without the first, taken the seats of workers that receive or
	// answer, and parked the workers that wait for a seat and have not been offered any. busy
	// are the calls that are being answered, alone is how many have come one after the other.
	more, taken, parked, busy, alone atomic.Int32
	// latest is when a call was received last, in nanoseconds.
	latest atomic.Int64
	mu     sync.Mutex
	given  sync.Cond
	// over is set when no process is left that makes calls; turns is set while calls are answered on their own
	// processor.
	over, turns bool
}

var room sync.Once

// makeRoom has the Go runtime run threads beside the threads that wait in the kernel for calls, stops and ends, once
// for all tools of this process. Such a thread keeps one of the runtime's processors until the runtime's monitor takes
// it, and that sleeps for up to 10 ms (sysmon in runtime/proc.go). See decision D230.
func makeRoom() {
	room.Do(func() { runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + maxSeats) })
}

// maxSeats bounds the workers that one call wakes.
const maxSeats = 4

// quiet is how many calls have to come one after the other until a seat goes.
const quiet = 256

// slow is how long workers take for calls that they do not come back from soon.
const slow = 200 * time.Microsecond

// worker is a thread that answers calls; leads is true while it has a seat.
type worker struct {
	*Supervisor
	leads bool
	// path has the bytes that it read last of a path; name, link and stat are for direct opens.
	path       [usual]byte
	name, link [pathMax]byte
	stat       unix.Statx_t
	on         ir.Place // that was judged
	files      links
	callers    callers
	// since counts the calls that were answered by their text.
	since uint
}

// lead waits until this worker has a seat. A worker that has a seat too many leaves it.
func (w *worker) lead() {
	s := &w.seats
	if w.leads && s.taken.Load() <= s.more.Load()+1 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.leads {
		if s.taken.Load() <= s.more.Load()+1 {
			return
		}
		s.taken.Add(-1)
	}
	for !s.over && s.taken.Load() > s.more.Load() {
		s.parked.Add(1)
		s.given.Wait()
	}
	s.taken.Add(1)
	w.leads = true
}

// yield leaves the seat of this worker, which is going to be busy, to another.
func (w *worker) yield() {
	if !w.leads {
		return
	}
	w.leads = false
	w.offer(1)
}

// leave has the workers that wait for a seat find out as well that there are no calls any more. No other
// worker is needed.
func (w *worker) leave() {
	s := &w.seats
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken.Add(-1)
	s.parked.Store(0)
	s.over = true
	s.given.Broadcast()
}

// offer has another worker take a seat: a free seat, or the seat that this worker leaves.
func (w *worker) offer(left int32) {
	s := &w.seats
	s.mu.Lock()
	s.taken.Add(-left)
	waits := s.parked.Load() > 0
	if waits {
		s.parked.Add(-1)
		s.given.Signal()
	}
	s.mu.Unlock()
	if !waits {
		w.spawn()
	}
}

// arrange has calls be answered on their own processor while there is one seat. Where there are several the kernel
// chooses: else all callers and workers come to share one processor, since each wakes the next there.
// See decision D230.
func (s *Supervisor) arrange() {
	s.seats.mu.Lock()
	defer s.seats.mu.Unlock()
	if turns := s.seats.more.Load() == 0; turns != s.seats.turns {
		s.seats.turns = turns
		s.listener.takeTurns(turns)
	}
}

// unhurried has this thread not take the processor from the thread that wakes it (SCHED_BATCH, sched(7)). The kernel
// wakes a worker when the tool's thread has its descriptor and goes on; the rest of the worker's work can wait for the
// tool's next call. A thread that has another policy than the usual keeps it.
// See decision D230.
func unhurried() {
	if policy, _, e := unix.RawSyscall(unix.SYS_SCHED_GETSCHEDULER, 0, 0, 0); e != 0 || policy != unix.SCHED_NORMAL {
		return
	}
	var priority int32
	_, _, _ = unix.RawSyscall(unix.SYS_SCHED_SETSCHEDULER, 0, unix.SCHED_BATCH, uintptr(unsafe.Pointer(&priority)))
}

// share looks whether other calls wait while this worker has received a call that may take long. Where there are enough
// seats, the workers that have them come to the call soon, unless none has received a call for a while; then another
// worker takes this seat, so that no call waits for the end of this call.
func (w *worker) share() {
	if w.look() {
		w.yield()
	}
}

// look counts the calls that are being answered. If others wait there is one seat more. It reports whether a call waits
// that no worker comes to soon.
func (w *worker) look() bool {
	s := &w.seats
	now := time.Now().UnixNano()
	last := s.latest.Swap(now)
	others := s.busy.Add(1) > 1
	waiting := w.listener.poll()&unix.POLLIN != 0
	more := s.more.Load()
	switch {
	case waiting && more+1 < int32(min(maxSeats, runtime.NumCPU())):
		s.alone.Store(0)
		if s.more.CompareAndSwap(more, more+1) {
			w.arrange()
			makeRoom()
			w.offer(0)
		}
	case waiting:
		s.alone.Store(0)
		return more == 0 || now-last > int64(slow)
	case others:
		s.alone.Store(0)
	case more > 0 && s.alone.Add(1) > quiet && s.more.CompareAndSwap(more, more-1):
		s.alone.Store(0)
		w.arrange()
	}
	return false
}
