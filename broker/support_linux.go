package broker

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Supported says why this host cannot supervise, nil if it can: user notification
// whose calls survive signals (Linux 5.19, which has all the rest), and the right to
// look into the tool.
func Supported() error {
	// With flags that it knows the kernel goes on to read the program, which is not
	// there (EFAULT); otherwise it says EINVAL.
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, filterFlags, 0)
	if e != unix.EFAULT {
		return fmt.Errorf("no seccomp user notification as of Linux 5.19 (%w)", e)
	}
	if scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil && strings.TrimSpace(string(scope)) > "1" {
		return fmt.Errorf("kernel.yama.ptrace_scope is %s; a supervisor must read its tool's memory", strings.TrimSpace(string(scope)))
	}
	var in, out [1]byte
	local, remote := unix.Iovec{Base: &out[0]}, unix.RemoteIovec{Base: uintptr(unsafe.Pointer(&in[0])), Len: 1}
	local.SetLen(1)
	if _, err := unix.ProcessVMReadv(unix.Getpid(), []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0); err != nil {
		return fmt.Errorf("process_vm_readv: %w", err)
	}
	return nil
}
