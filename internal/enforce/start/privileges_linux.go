package start

import (
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/supervisor"
)

// dropPrivileges removes from this thread the descriptors and capabilities that the tool must
// not have.
func dropPrivileges() error {
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return failed("closing inherited descriptors: %w", err)
	}
	keepThread()
	if err := dropCapabilities(); err != nil {
		return failed("dropping capabilities: %w", err)
	}
	return nil
}

// dropCapabilities removes from this thread all capabilities, since some bypass the sandbox: a
// process with CAP_SYS_ADMIN can make a read-only mount writable again without a Landlock hook
// being asked (mount_setattr(2)), one with CAP_DAC_READ_SEARCH can open files that its user was
// not granted.
func dropCapabilities() error {
	for c := 0; c <= unix.CAP_LAST_CAP+8; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		// EINVAL: this number is behind the last capability that this kernel knows. EPERM:
		// without CAP_SETPCAP the bounding set stays; no_new_privs keeps it from giving anything.
		if err == unix.EINVAL && c > 0 || err == unix.EPERM {
			break
		}
		if err != nil {
			return err
		}
	}
	return supervisor.ClearCapabilities()
}
