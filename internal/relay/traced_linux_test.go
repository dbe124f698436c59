package relay

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Packages are initialised on the first thread.
func init() {
	part, thread, _ := strings.Cut(os.Getenv(role), "-")
	if part != "traced" {
		return
	}
	signal.Ignore(unix.SIGTERM)
	trace := func() {
		runtime.LockOSThread()
		if _, _, e := unix.RawSyscall(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0); e != 0 {
			os.Exit(1)
		}
		fmt.Println(os.Getpid())
	}
	if thread == "first" {
		trace()
		_ = unix.Tgkill(os.Getpid(), os.Getpid(), unix.SIGUSR1)
	}
	go trace()
	time.Sleep(time.Hour)
}

// TestTraced: a program that has the relay trace it has not ended when it stops, and a kill ends it, also if another
// thread than its first one is traced.
func TestTraced(t *testing.T) {
	for _, thread := range []string{"first", "other"} {
		t.Run(thread, func(t *testing.T) { endDeaf(t, "traced-"+thread, func(int) {}) })
	}
}
