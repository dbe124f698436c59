package clone_test

import (
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/supervisor/clone"
)

// deed is the task of a test's clone: it notes its number and signal mask, and ends with a
// status.
type deed struct {
	task   clone.Task
	pid    uintptr
	mask   [8]byte
	status uintptr
}

//go:norace
//go:nosplit
func do(p unsafe.Pointer) {
	d := (*deed)(p)
	d.pid, _, _ = syscall.RawSyscall(unix.SYS_GETPID, 0, 0, 0)
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, 0, uintptr(unsafe.Pointer(&d.mask)), 8, 0, 0)
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, d.status, 0, 0)
	}
}

func start(t *testing.T, flags uintptr, status uintptr) *deed {
	t.Helper()
	d := &deed{status: status}
	d.task.Run, d.task.Arg, d.task.Flags = do, unsafe.Pointer(d), flags|uintptr(unix.SIGCHLD)
	pid, e := d.task.Start()
	if e != 0 {
		t.Fatal(e)
	}
	var ws syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &ws, 0, nil); err != syscall.EINTR {
			break
		}
	}
	if !ws.Exited() || ws.ExitStatus() != int(status) {
		t.Fatalf("the clone ended with %#x, not with status %d", ws, status)
	}
	if d.pid != 0 && int(d.pid) != pid {
		t.Fatalf("the clone is %d to itself and %d to its parent", d.pid, pid)
	}
	return d
}

func TestSharesMemory(t *testing.T) {
	if !clone.Shares {
		t.Skip("clones are copies here")
	}
	d := start(t, unix.CLONE_VM, 7)
	if d.pid == 0 {
		t.Error("what the clone wrote is not here")
	}
	// The kernel leaves SIGKILL and SIGSTOP out of every mask.
	const all = ^(uint64(1)<<(unix.SIGKILL-1) | uint64(1)<<(unix.SIGSTOP-1))
	if got := *(*uint64)(unsafe.Pointer(&d.mask)); got != all {
		t.Errorf("the clone runs with the signal mask %#x, want %#x", got, all)
	}
}

func TestCopiesMemory(t *testing.T) {
	if d := start(t, 0, 9); d.pid != 0 {
		t.Error("what the clone wrote is here")
	}
}

// TestRuntimeGoesOn: the Go runtime collects garbage, grows stacks and preempts while
// clones run on its memory.
func TestRuntimeGoesOn(t *testing.T) {
	stop := make(chan bool)
	defer close(stop)
	for range 2 {
		go func() {
			var keep [][]byte
			for {
				select {
				case <-stop:
					return
				default:
					if keep = append(keep, make([]byte, 4096)); len(keep) > 100 {
						keep = nil
						runtime.GC()
					}
				}
			}
		}()
	}
	for i := range 500 {
		start(t, unix.CLONE_VM, uintptr(i%100))
	}
}

func TestMaskIsRestored(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, nil, &before); err != nil {
		t.Fatal(err)
	}
	start(t, unix.CLONE_VM, 0)
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, nil, &after); err != nil {
		t.Fatal(err)
	}
	if before != after {
		t.Errorf("the mask was %v and is %v", before, after)
	}
}
