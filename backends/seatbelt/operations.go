package seatbelt

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// The operations that more than one file speaks of.
const (
	opReadData    = "file-read-data"
	opMetadata    = "file-read-metadata"
	opClone       = "file-clone"
	opCreate      = "file-write-create"
	opUnlink      = "file-write-unlink"
	opLink        = "file-link"
	opExec        = "process-exec*"
	opInterpreter = "process-exec-interpreter"
	opConnect     = "network-outbound"
	opIoctl       = "file-ioctl"
)

// leaf is an operation that rules of a policy decide.
type leaf struct {
	op string
	// needs are the capabilities that it takes; zero means any at all.
	needs ir.CapSet
	// metadata marks what an update changes beside contents.
	metadata bool
}

// leaves is what the target can express of a filesystem policy. Which system call
// asks for which operation is from github.com/steven-michaud/SandboxMirror, the
// names are those of the operation tables in github.com/0xbf00/simbple.
//
// Existence, size, times, mode, link targets and attributes are not protected by a
// policy; they are shown wherever a rule grants anything. A copy by clonefile(2) asks
// for file-clone of its source alone, so that goes with read. A rename asks for
// file-write-create of its target even where it replaces a file, which takes update:
// without update, create is withheld.
var leaves = []leaf{
	{op: opMetadata},
	{op: "file-read-xattr"},
	{op: opReadData, needs: ir.Caps(ir.Read)},
	{op: opClone, needs: ir.Caps(ir.Read)},
	{op: opCreate, needs: creates},
	{op: "file-write-data", needs: ir.Caps(ir.Update)},
	{op: "file-write-mode", needs: ir.Caps(ir.Update), metadata: true},
	{op: "file-write-flags", needs: ir.Caps(ir.Update), metadata: true},
	{op: "file-write-times", needs: ir.Caps(ir.Update), metadata: true},
	{op: "file-write-xattr", needs: ir.Caps(ir.Update), metadata: true},
	{op: "file-write-owner", needs: ir.Caps(ir.Update), metadata: true},
	{op: "file-write-acl", needs: ir.Caps(ir.Update), metadata: true},
	{op: "file-write-finderinfo", needs: ir.Caps(ir.Update), metadata: true},
	{op: opUnlink, needs: ir.Caps(ir.Delete)},
	{op: opLink, needs: linkable},
	{op: "file-map-executable", needs: ir.Caps(ir.Execute)},
	{op: opExec, needs: ir.Caps(ir.Execute)},
	{op: opInterpreter, needs: ir.Caps(ir.Execute)},
}

const (
	creates  = ir.CapSet(1<<ir.Create | 1<<ir.Update)
	linkable = ir.CapSet(1<<ir.Read | 1<<ir.Update)
	names    = ir.CapSet(1<<ir.Create | 1<<ir.Delete)
)

// grant is what a region of a policy becomes.
type grant struct {
	caps ir.CapSet
	// links is true where a hard link to what is here lets nobody gain anything.
	links bool
	// listed is true when the policy lists programs: execute alone starts none.
	listed bool
	// base is true for the base, whose update is of the contents of devices.
	base bool
}

// allows reports whether a region lets an operation through.
func (g grant) allows(l leaf) bool {
	switch {
	case l.needs == 0:
		return g.caps != 0
	case !g.caps.Contains(l.needs):
		return false
	case l.op == opLink:
		return g.links
	case l.op == opExec, l.op == opInterpreter:
		return !g.listed
	default:
		return !g.base || !l.metadata
	}
}

// split divides the leaves into what a region allows and what it denies.
func (g grant) split() (allow, deny []string) {
	for _, l := range leaves {
		if g.allows(l) {
			allow = append(allow, l.op)
		} else {
			deny = append(deny, l.op)
		}
	}
	return allow, deny
}

// has reports whether a region lets one operation through, by name.
func (g grant) has(op string) bool {
	return slices.ContainsFunc(leaves, func(l leaf) bool { return l.op == op && g.allows(l) })
}

// known are the operations that a profile may name: those of macOS 10.15 as
// published by simbple, and what profiles written for later releases add.
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
