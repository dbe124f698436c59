package supervisor

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The requests and records of a listener (include/uapi/linux/seccomp.h).
const (
	ioctlRecv     = 0xc0502100
	ioctlSend     = 0xc0182101
	ioctlIDValid  = 0x40082102
	ioctlAddFD    = 0x40182103
	ioctlSetFlags = 0x40082104
)

// syncWakeUp has the calling thread and the answering thread take turns on one processor
// (SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP, Linux 6.6).
const syncWakeUp = 1

// notification is struct seccomp_notif.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	id    uint64
	val   int64
	error int32
	flags uint32
}

// addition is struct seccomp_notif_addfd.
type addition struct {
	id         uint64
	flags      uint32
	srcfd      uint32
	newfd      uint32
	newfdFlags uint32
}

const continueFlag = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE

// listener is the descriptor that notifications come from.
type listener int

func (l listener) ioctl(request uintptr, arg unsafe.Pointer) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(l), request, uintptr(arg))
	return e
}

// takeTurns says whether a call has its answer made on its own processor, where the kernel can do that. A call then
// does not wait for a thread on another processor to wake up, but calls that are made at a time come to share one
// processor.
func (l listener) takeTurns(on bool) {
	var flags uintptr
	if on {
		flags = syncWakeUp
	}
	_, _, _ = unix.RawSyscall(unix.SYS_IOCTL, uintptr(l), ioctlSetFlags, flags)
}

// receive waits for a call. The record must be all zero before (EINVAL otherwise).
func (l listener) receive(n *notification) unix.Errno {
	*n = notification{}
	return l.ioctl(ioctlRecv, unsafe.Pointer(n))
}

// pending reports whether a call still waits for its answer. Until the answer its thread does
// not run on, so data read about the thread is not about a later process with the same
// number.
func (l listener) pending(id uint64) bool {
	_, _, e := unix.RawSyscall(unix.SYS_IOCTL, uintptr(l), ioctlIDValid, uintptr(unsafe.Pointer(&id)))
	return e == 0
}

// poll returns the events that are due: POLLIN for another call, POLLHUP when no process is
// left that could make a call.
func (l listener) poll() int16 {
	fd := unix.PollFd{Fd: int32(l), Events: unix.POLLIN}
	var none unix.Timespec
	// It does not wait, so the Go runtime need not know of it.
	_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fd)), 1, uintptr(unsafe.Pointer(&none)), 0, 0, 0)
	return fd.Revents
}

// add puts a descriptor into the table of a caller that goes on waiting, under a free number,
// or under the given number where that is not negative. Where closeOn is true, the kernel closes it when the
// caller becomes another program.
func (l listener) add(id uint64, fd, number int, closeOn bool) (int, unix.Errno) {
	a := addition{id: id, srcfd: uint32(fd)}
	if closeOn {
		a.newfdFlags = unix.O_CLOEXEC
	}
	if number >= 0 {
		a.flags, a.newfd = unix.SECCOMP_ADDFD_FLAG_SETFD, uint32(number)
	}
	n, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(l), ioctlAddFD, uintptr(unsafe.Pointer(&a)))
	return int(n), e
}

// await waits until poll has events.
func (l listener) await() {
	fds := []unix.PollFd{{Fd: int32(l), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(fds, -1); err != unix.EINTR {
			return
		}
	}
}

// answer is how a call ends.
type answer struct {
	val   int64
	errno unix.Errno
	// on continues the call in the kernel.
	on bool
	// fd, where hand is true, is put into the tool's table as the result; writes is true where it is open
	// for writing, and held where it is closed with the call's other descriptors.
	hand, writes, held bool
	fd                 int
	closeOn            bool
	// then, if not nil, runs once the answer is given.
	then func()
	// wait, if not nil, returns the answer instead: it may wait for another process.
	wait func() answer
}

func fails(e unix.Errno) answer { return answer{errno: e} }

// result is success or the error of a system call.
func result(err error) answer {
	if e, ok := err.(unix.Errno); ok {
		return answer{errno: e}
	}
	if err != nil {
		return answer{errno: unix.EIO}
	}
	return answer{}
}

var proceed = answer{on: true}

// apart puts a descriptor that writes into the tool's table, and closes it here before the answer. The tool may
// close its own and execute the file at once: the kernel refuses to execute a file that any process has open
// for writing (ETXTBSY, execve(2)), and another worker may be answering that call.
func (l listener) apart(id uint64, a *answer) bool {
	if !a.writes {
		return false
	}
	add := addition{id: id, srcfd: uint32(a.fd)}
	if a.closeOn {
		add.newfdFlags = unix.O_CLOEXEC
	}
	n, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(l), ioctlAddFD, uintptr(unsafe.Pointer(&add)))
	if e != 0 {
		return false
	}
	_ = unix.Close(a.fd)
	a.val = int64(n)
	return true
}

// send gives the answer. A call that has gone in the meantime (ENOENT) needs none.
func (l listener) send(id uint64, a answer) {
	if a.hand && l.apart(id, &a) {
		r := response{id: id, val: a.val}
		_ = l.ioctl(ioctlSend, unsafe.Pointer(&r))
		return
	}
	if a.hand {
		add := addition{id: id, flags: unix.SECCOMP_ADDFD_FLAG_SEND, srcfd: uint32(a.fd)}
		if a.closeOn {
			add.newfdFlags = unix.O_CLOEXEC
		}
		e := l.ioctl(ioctlAddFD, unsafe.Pointer(&add))
		if !a.held {
			_ = unix.Close(a.fd)
		}
		if e == 0 || e == unix.ENOENT {
			return
		}
		// The tool has no room for another descriptor.
		a = fails(e)
	}
	r := response{id: id, val: a.val, error: -int32(a.errno)}
	if a.on {
		r = response{id: id, flags: continueFlag}
	}
	_ = l.ioctl(ioctlSend, unsafe.Pointer(&r))
}
