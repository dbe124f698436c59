package supervisor

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Supported returns why this host cannot supervise, nil if it can: it needs user notification
// whose calls survive signals (Linux 5.19, which has all the rest), and the right to look into
// the tool.
func Supported() error {
	// If the kernel knows the flags it goes on to read the program, which is not there
	// (EFAULT); otherwise it says EINVAL.
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, filterFlags, 0)
	if e != unix.EFAULT {
		return fmt.Errorf("no seccomp user notification as of Linux 5.19 (%w)", e)
	}
	if scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil &&
		strings.TrimSpace(string(scope)) > "1" {
		return fmt.Errorf("kernel.yama.ptrace_scope is %s; a supervisor must read its tool's memory",
			strings.TrimSpace(string(scope)))
	}
	var in, out [1]byte
	local, remote := unix.Iovec{Base: &out[0]}, unix.RemoteIovec{Base: uintptr(unsafe.Pointer(&in[0])), Len: 1}
	local.SetLen(1)
	if _, err := unix.ProcessVMReadv(unix.Getpid(), []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0); err != nil {
		return fmt.Errorf("process_vm_readv: %w", err)
	}
	return nil
}

// Starts returns why a supervisor on this host cannot start programs that the ruleset does not
// know, nil if it can.
func Starts() error {
	if err := seizable(); err != nil {
		return err
	}
	fd, err := inMemory("start", func(int) error { return nil })
	if err != nil {
		return fmt.Errorf("programs cannot be started from memory (%w); see vm.memfd_noexec", err)
	}
	return unix.Close(fd)
}

// Supervised reports whether this process is under a filter with a listener, in which case the
// kernel refuses a second listener (seccomp(2), EBUSY). It tries, on a thread that ends with
// the attempt: the filter of that thread lets everything pass.
func Supervised() bool {
	answered := make(chan bool)
	go func() {
		// Not unlocked, so that the thread is not used again.
		runtime.LockOSThread()
		pass := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
		prog := unix.SockFprog{Len: 1, Filter: &pass}
		if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil {
			answered <- false
			return
		}
		fd, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
			unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&prog)))
		if e == 0 {
			_ = unix.Close(int(fd))
		}
		answered <- e == unix.EBUSY
	}()
	return <-answered
}
