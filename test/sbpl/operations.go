package sbpl

import "strings"

// known are the operations that a profile may name: those of macOS 10.15 as published by
// simbple, and additions in profiles written for later releases.
var known = strings.Fields(`
default appleevent-send authorization-right-obtain boot-arg-set darwin-notification-post device* device-camera
device-microphone distributed-notification-post dynamic-code-generation file* file-chroot file-clone file-graft
file-ioctl file-issue-extension file-link file-lock file-map-executable file-mknod file-mount file-mount-update
file-read* file-read-data file-read-metadata file-read-xattr file-revoke file-search file-test-existence
file-ungraft file-unmount file-write* file-write-acl file-write-create file-write-data file-write-finderinfo
file-write-flags file-write-mode file-write-owner file-write-setugid file-write-times file-write-unlink
file-write-xattr fs-info fs-quota* fs-rename fs-snapshot* fs-snapshot-create fs-snapshot-delete fs-snapshot-mount
fs-snapshot-revert generic-issue-extension hid-control iokit* iokit-get-properties iokit-issue-extension iokit-open
iokit-set-properties ipc* ipc-posix* ipc-posix-issue-extension ipc-posix-sem* ipc-posix-sem-create
ipc-posix-sem-open ipc-posix-sem-post ipc-posix-sem-unlink ipc-posix-sem-wait ipc-posix-shm*
ipc-posix-shm-read* ipc-posix-shm-read-data ipc-posix-shm-write* ipc-posix-shm-write-create ipc-posix-shm-write-data
ipc-posix-shm-write-unlink ipc-sysv* ipc-sysv-msg ipc-sysv-sem ipc-sysv-shm job-creation load-unsigned-code lsopen
mach* mach-bootstrap mach-cross-domain-lookup mach-host* mach-host-exception-port-set mach-host-special-port-set
mach-issue-extension mach-lookup mach-priv* mach-priv-host-port mach-priv-task-port mach-register mach-task-name
managed-preference-read network* network-bind network-inbound network-outbound nvram* nvram-delete nvram-get
nvram-set opendirectory-user-modify process* process-codesigning-status* process-codesigning-status-get
process-codesigning-status-set process-exec* process-exec-interpreter process-fork process-info*
process-info-codesignature process-info-dirtycontrol process-info-listpids process-info-pidfdinfo
process-info-pidfileportinfo process-info-pidinfo process-info-rusage process-info-setcontrol pseudo-tty qtn-user
signal socket-ioctl storage-class-map syscall* syscall-mach syscall-mig syscall-unix sysctl* sysctl-read
sysctl-write system* system-acct system-audit system-automount system-debug system-fcntl system-fsctl system-info
system-kext* system-kext-load system-kext-query system-kext-unload system-mac-label system-mac-syscall
system-nfssvc system-package-check system-privilege system-reboot system-sched system-set-time system-socket
system-suspend-resume system-swap user-preference* user-preference-read user-preference-write
`)

// aliases are the second names of operations, from the prelude of version 1.
var aliases = map[string]string{
	"process-exec": "process-exec*", "ipc-posix-sem": "ipc-posix-sem*", "ipc-posix-shm": "ipc-posix-shm*",
	"file-unlink": "file-write-unlink", "file-fsctl": "system-fsctl", "system-misc": "system*",
	"file-write-mount": "file-mount", "file-write-unmount": "file-unmount", "file-write-umount": "file-unmount",
	"file-issue-extension*": "file-issue-extension", "managed-preference*": "managed-preference-read",
	"time-set": "system-set-time",
}

// undeniable are the operations that version 1 allows unless a rule names them:
// neither the default nor their family reaches them. The first lines are from the
// tables of macOS 10.15, the last from measurements on macOS 26 that
// github.com/strands-agents/box publishes (crates/containment/AGENTS.md).
var undeniable = strings.Fields(`
darwin-notification-post dynamic-code-generation file-clone file-link file-map-executable file-test-existence
iokit-get-properties mach-cross-domain-lookup nvram* process-info* process-info-codesignature socket-ioctl
syscall-unix system-privilege
file-graft file-lock file-ungraft fs-info fs-quota* fs-snapshot-mount syscall-mach syscall-mig system-fcntl
`)

// parents maps every known operation to the family that it falls back to when no
// rule decides it: the longest name ending in a star that covers it.
var parents = parentTable()

func parentTable() map[string]string {
	out := make(map[string]string, len(known))
	for _, op := range known {
		best := ""
		for _, family := range known {
			stem, isFamily := strings.CutSuffix(family, "*")
			if isFamily && op != family && strings.HasPrefix(op, stem) && len(family) > len(best) {
				best = family
			}
		}
		if best == "" {
			best = "default"
		}
		out[op] = best
	}
	delete(out, "default")
	return out
}
