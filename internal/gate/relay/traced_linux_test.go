package relay

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/await"
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
	stay()
}

// TestTraced: a program that has the relay trace it has not ended when it stops, and a kill ends it, also if another
// thread than its first one is traced.
func TestTraced(t *testing.T) {
	for _, thread := range []string{"first", "other"} {
		t.Run(thread, func(t *testing.T) {
			endDeaf(t, "traced-"+thread, func(pid int) {
				await.Until(t, "the first thread stops for its tracer", func() bool {
					state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
					return thread != "first" || bytes.Contains(state, []byte(") t "))
				})
			})
		})
	}
}
