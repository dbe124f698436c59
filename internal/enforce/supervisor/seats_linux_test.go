package supervisor

import (
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/await"
)

// TestSeats: a worker that has received a call while another one waits lets a further worker
// receive, and once calls come alone again one of the two leaves. A pipe stands for the listener.
func TestSeats(t *testing.T) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	s := &Supervisor{listener: listener(pipe[0])}
	s.seats.given.L = &s.seats.mu
	s.arrange()
	if !s.seats.turns {
		t.Fatal("a call that comes alone is not answered on its own processor")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))

	first, second := &worker{Supervisor: s}, &worker{Supervisor: s}
	first.lead()
	has, leaves := make(chan bool), make(chan bool)
	go func() {
		second.lead()
		has <- true
		<-leaves
		second.yield()
	}()
	await.Until(t, "the second worker waits for a seat", func() bool { return s.seats.parked.Load() > 0 })
	if _, err := unix.Write(pipe[1], []byte{1}); err != nil {
		t.Fatal(err)
	}
	first.share()
	<-has
	if want := runtime.NumCPU() > 1; first.leads != want {
		t.Fatalf("the first worker leads: %v, on %d processors", first.leads, runtime.NumCPU())
	}
	if first.leads && s.seats.turns {
		t.Fatal("two workers share the processor of a call")
	}
	s.seats.busy.Add(-1)
	if _, err := unix.Read(pipe[0], make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	for range quiet + 1 {
		first.share()
		s.seats.busy.Add(-1)
	}
	if !s.seats.turns {
		t.Fatal("calls that come alone again are not answered on their own processor")
	}
	back := make(chan bool)
	go func() {
		first.lead()
		back <- true
	}()
	await.Until(t, "the first worker waits for a seat", func() bool {
		select {
		case <-back:
			t.Fatal("two workers receive calls that come alone")
		default:
		}
		return s.seats.parked.Load() > 0
	})
	leaves <- true
	<-back
	if n := s.seats.taken.Load(); n != 1 {
		t.Fatalf("%d seats are taken", n)
	}
}

// TestUnhurried: a thread that answers calls does not take the processor from the tool's, unless the user has chosen a policy.
func TestUnhurried(t *testing.T) {
	policies := make(chan uintptr)
	for _, before := range []uintptr{unix.SCHED_NORMAL, unix.SCHED_IDLE} {
		go func() {
			runtime.LockOSThread() // for good, so that the thread ends
			var priority int32
			_, _, e := unix.RawSyscall(unix.SYS_SCHED_SETSCHEDULER, 0, before, uintptr(unsafe.Pointer(&priority)))
			if e != 0 {
				t.Error(e)
			}
			unhurried()
			policy, _, _ := unix.RawSyscall(unix.SYS_SCHED_GETSCHEDULER, 0, 0, 0)
			policies <- policy
		}()
		want := before
		if before == unix.SCHED_NORMAL {
			want = unix.SCHED_BATCH
		}
		if got := <-policies; got != want {
			t.Errorf("a thread of policy %d gets policy %d, not %d", before, got, want)
		}
	}
}
