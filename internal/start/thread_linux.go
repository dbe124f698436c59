package start

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// keepThread makes the calling goroutine keep to its thread for good. While packages are initialised the goroutine
// that does so keeps to the thread on which the process began, and no other runs there (runtime.LockOSThread says so
// of init functions). That thread has the number of the process (gettid(2)). There LockOSThread would change nothing,
// and start a thread for the runtime's own use.
// See RATIONALE D341.
func keepThread() {
	if initialising && unix.Gettid() == unix.Getpid() {
		return
	}
	runtime.LockOSThread()
}
