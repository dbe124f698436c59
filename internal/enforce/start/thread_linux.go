package start

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keepThread makes the calling goroutine keep to its thread for good. While packages are initialised the goroutine
// that does so keeps to the thread on which the process began, and no other runs there (runtime.LockOSThread says so
// of init functions). That thread has the number of the process (gettid(2)). There LockOSThread would change nothing,
// and start a thread for the runtime's own use.
// See decision D104.
func keepThread() {
	if initialising && unix.Gettid() == unix.Getpid() {
		return
	}
	runtime.LockOSThread()
}

// deathSignal is the signal that this process gets when its parent ends, 0 for none. The kernel keeps it for each
// thread (PR_SET_PDEATHSIG in prctl(2)); the one that a parent has asked for is the first thread's, on which packages
// are initialised.
var deathSignal = ownDeathSignal()

func ownDeathSignal() (number int32) {
	if unix.Prctl(unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&number)), 0, 0, 0) != nil {
		return 0
	}
	return number
}

// keepDeathSignal has the tool that this thread becomes get the signal when the parent of this process ends: execve(2)
// keeps that of the thread that calls it. Until then the first thread has it, so a parent that ends meanwhile is not
// missed.
// See decision D63.
func keepDeathSignal() error {
	if deathSignal == 0 {
		return nil
	}
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(deathSignal), 0, 0, 0)
}
