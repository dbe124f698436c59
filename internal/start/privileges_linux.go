package start

import (
	"errors"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// dropCapabilities removes from this thread all capabilities, since some bypass the sandbox: a
// process with CAP_SYS_ADMIN can make a read-only mount writable again without a Landlock hook
// being asked (mount_setattr(2)), one with CAP_DAC_READ_SEARCH can open files that its user was
// not granted.
func dropCapabilities() error {
	runtime.LockOSThread()
	for c := 0; c <= unix.CAP_LAST_CAP+8; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		switch {
		case err == nil:
		case errors.Is(err, unix.EINVAL) && c > 0:
			// This number is behind the last capability that this kernel knows.
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

// applyLimits sets the limits that setrlimit(2) can enforce. They bind this process before it
// is the tool: a garbage collection would die of memory that it does not get, so there is none
// from here on.
func applyLimits(limits []backends.Limit) error {
	if len(limits) > 0 {
		debug.SetGCPercent(-1)
		runtime.GC()
	}
	for _, l := range limits {
		resource, value, err := rlimit(l)
		if err != nil {
			return err
		}
		if resource < 0 {
			continue
		}
		lowered, err := atMost(resource, value)
		if err != nil {
			return err
		}
		if err := unix.Setrlimit(resource, &lowered); err != nil {
			return err
		}
	}
	return nil
}

// rlimit is the resource and value of a limit, times rounded up to seconds; -1 for one that is
// none of setrlimit(2)'s.
func rlimit(l backends.Limit) (resource int, value uint64, err error) {
	switch l.Kind {
	case ir.LimitMemory.String():
		return unix.RLIMIT_AS, l.Value, nil
	case ir.LimitProcesses.String():
		return unix.RLIMIT_NPROC, l.Value, nil
	case ir.LimitCPUTime.String():
		return unix.RLIMIT_CPU, (l.Value + 999) / 1000, nil
	case ir.LimitOpenFiles.String():
		return unix.RLIMIT_NOFILE, l.Value, nil
	case ir.LimitFileSize.String():
		return unix.RLIMIT_FSIZE, l.Value, nil
	case ir.LimitWallTime.String():
		// This one needs a process that waits: the supervisor, unless the requirement was
		// accepted.
		return -1, 0, nil
	default:
		return -1, 0, errors.New("unknown limit " + l.Kind)
	}
}

// atMost is a limit that is not above the one that this process has already.
func atMost(resource int, value uint64) (unix.Rlimit, error) {
	var have unix.Rlimit
	err := unix.Getrlimit(resource, &have)
	value = min(value, have.Max)
	return unix.Rlimit{Cur: value, Max: value}, err
}
