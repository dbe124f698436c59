package live

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// after calls a function once a time has gone by on CLOCK_BOOTTIME, which nobody sets and which goes on while the
// machine sleeps (clock_gettime(2), timerfd_create(2)): the monotonic clock of package time stands still then, and a
// grant would last longer.
func after(d time.Duration, f func()) (stop func(), err error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	timer := os.NewFile(uintptr(fd), "timer")
	at := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if err := unix.TimerfdSettime(fd, 0, &at, nil); err != nil {
		_ = timer.Close()
		return nil, os.NewSyscallError("timerfd_settime", err)
	}
	go func() {
		var count [8]byte
		_, err := timer.Read(count[:])
		_ = timer.Close()
		if err == nil {
			f()
		}
	}()
	return func() { _ = timer.Close() }, nil
}
