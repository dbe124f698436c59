package supervisor

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// initialising is true if the packages of the program are still being initialised.
var initialising bool

// Initialising says that the packages of the program are still being initialised, and that this process ends
// before they are.
func Initialising() { initialising = true }

// KeepThread makes the calling goroutine keep to its thread for good. While packages are initialised the goroutine
// that does so keeps to the thread on which the process began, and no other runs there (runtime.LockOSThread says so
// of init functions). That thread has the number of the process (gettid(2)). There LockOSThread would change nothing,
// and start a thread for the runtime's own use.
// See RATIONALE D341.
func KeepThread() {
	if initialising && unix.Gettid() == unix.Getpid() {
		return
	}
	runtime.LockOSThread()
}
