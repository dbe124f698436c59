package sandbox

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// dropCapabilities takes from this thread whatever would bypass the sandbox: a
// process with CAP_SYS_ADMIN can make a read-only mount writable again without a
// Landlock hook being asked (mount_setattr(2)), one with CAP_DAC_READ_SEARCH can
// open what nobody granted to its user.
func dropCapabilities() error {
	runtime.LockOSThread()
	for c := 0; c <= unix.CAP_LAST_CAP+8; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		switch {
		case err == nil:
		case errors.Is(err, unix.EINVAL) && c > 0:
			// Behind the last capability that this kernel knows.
			return clearCapabilities()
		case errors.Is(err, unix.EPERM):
			// Without CAP_SETPCAP the bounding set stays; no_new_privs keeps it from
			// giving anything.
			return clearCapabilities()
		default:
			return err
		}
	}
	return clearCapabilities()
}

func clearCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&hdr, &none[0])
}

// applyLimits sets what setrlimit(2) can hold. Times are rounded up to seconds.
func applyLimits(limits []landlock.Limit) error {
	for _, l := range limits {
		resource, value := 0, l.Value
		switch l.Kind {
		case ir.LimitMemory.String():
			resource = unix.RLIMIT_AS
		case ir.LimitProcesses.String():
			resource = unix.RLIMIT_NPROC
		case ir.LimitCPUTime.String():
			resource, value = unix.RLIMIT_CPU, (l.Value+999)/1000
		case ir.LimitOpenFiles.String():
			resource = unix.RLIMIT_NOFILE
		case ir.LimitFileSize.String():
			resource = unix.RLIMIT_FSIZE
		case ir.LimitWallTime.String():
			// Needs somebody who waits; its cell is accepted when we are here.
			continue
		default:
			return errors.New("unknown limit " + l.Kind)
		}
		if err := lower(resource, value); err != nil {
			return err
		}
	}
	return nil
}

// lower sets a limit that is at most what this process has already.
func lower(resource int, value uint64) error {
	var have unix.Rlimit
	if err := unix.Getrlimit(resource, &have); err != nil {
		return err
	}
	value = min(value, have.Max)
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: value, Max: value})
}
