package egress

import (
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// resolverFiles are the files that the process reads while it serves: the configuration of the host's
// resolver, its time zones and its authorities. It writes nothing.
var resolverFiles = []string{"/etc", "/run/systemd/resolve", "/usr/share/ca-certificates", "/usr/share/zoneinfo",
	"/usr/local/share/ca-certificates"}

// confine takes from this process all that a proxy does not need, since it reads bytes of a hostile
// tool and of hosts: privileges, files, and being read by others.
func confine() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if _, _, e := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&hdr)),
		uintptr(unsafe.Pointer(&none[0])), 0); e != 0 {
		return e
	}
	return landlock.V5.BestEffort().RestrictPaths(landlock.RODirs(resolverFiles...).IgnoreIfMissing())
}
