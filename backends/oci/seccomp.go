package oci

import (
	"slices"
	"strings"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/accessc/accessc/backends/landlock"
)

// Errors of system calls (include/uapi/asm-generic/errno-base.h and errno.h).
const (
	errPerm  = 1
	errNoSys = 38
)

// namespaces are the flags of clone(2) that make one; unshare(2) knows one more.
var namespaces = []string{
	"CLONE_NEWCGROUP", "CLONE_NEWIPC", "CLONE_NEWNET", "CLONE_NEWNS", "CLONE_NEWPID", "CLONE_NEWUSER", "CLONE_NEWUTS",
}

// filter is the closed list of calls without some of them; others have rules about their arguments.
func filter(closed []string, rules ...specs.LinuxSyscall) *specs.LinuxSeccomp {
	unknown, refused := uint(errNoSys), uint(errPerm)
	out := &specs.LinuxSeccomp{
		DefaultAction: specs.ActErrno, DefaultErrnoRet: &unknown,
		Architectures: []specs.Arch{specs.ArchX86_64, specs.ArchAARCH64},
	}
	var names []string
	for _, g := range landlock.Allowed() {
		for _, call := range g.Calls {
			ruled := slices.ContainsFunc(rules, func(r specs.LinuxSyscall) bool { return r.Names[0] == call })
			if !ruled && !slices.Contains(closed, call) {
				names = append(names, call)
			}
		}
	}
	slices.Sort(names)
	out.Syscalls = append([]specs.LinuxSyscall{{Names: names, Action: specs.ActAllow}}, rules...)
	for _, g := range landlock.Refused() {
		if g.Errno == "EPERM" {
			out.Syscalls = append(out.Syscalls, specs.LinuxSyscall{Names: g.Calls, Action: specs.ActErrno, ErrnoRet: &refused})
		}
	}
	return out
}

// seccomp is the filter around the entry point: the closed list of calls that every tool's filter begins
// with. The entry point needs no others, and puts the policy's own filter inside.
// See RATIONALE D261.
func seccomp() *specs.LinuxSeccomp {
	return filter(nil,
		without("clone", 0, namespaces...), without("unshare", 0, append(slices.Clone(namespaces), "CLONE_NEWTIME")...),
	)
}

// apartSeccomp is the filter of a container without accessc: the system calls that landlock.Apart refuses, put
// the other way round.
func apartSeccomp() *specs.LinuxSeccomp {
	const creates, setID = "O_CREAT,__O_TMPFILE", "S_ISUID,S_ISGID"
	rules := []specs.LinuxSyscall{
		without("clone", 0, namespaces...), without("unshare", 0, append(slices.Clone(namespaces), "CLONE_NEWTIME")...),
		without("renameat2", 4, "RENAME_WHITEOUT"), without("sendmsg", 2, "MSG_FASTOPEN"), without("sendmmsg", 3, "MSG_FASTOPEN"),
		both(without("sendto", 3, "MSG_FASTOPEN"), is("sendto", 4, 0)),
		both(is("socketpair", 0, constant("AF_UNIX")), masks("socketpair", 1, sockType, constant("SOCK_STREAM"))),
		both(is("socketpair", 0, constant("AF_UNIX")), masks("socketpair", 1, sockType, constant("SOCK_SEQPACKET"))),
		is("setsockopt", 1, constant("SOL_SOCKET")),
		both(is("setpriority", 0, constant("PRIO_PROCESS")), is("setpriority", 1, 0)),
		both(is("ioprio_set", 0, constant("IOPRIO_WHO_PROCESS")), is("ioprio_set", 1, 0)),
		masks("ioctl", 1, requestType, constant("IOCTL_TERMINAL")), masks("ioctl", 1, requestType, constant("IOCTL_SOCKET")),
	}
	for _, call := range []string{"prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"} {
		rules = append(rules, is(call, 0, 0))
	}
	for _, request := range fileRequests {
		rules = append(rules, is("ioctl", 1, constant(request)))
	}
	for call, arg := range map[string]uint{"mknod": 1, "mknodat": 2} {
		for _, kind := range files {
			rules = append(rules, masks(call, arg, fileType|constant("S_ISUID")|constant("S_ISGID"), kind))
		}
	}
	for call, arg := range map[string]uint{"creat": 1, "chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2} {
		rules = append(rules, without(call, arg, strings.Split(setID, ",")...))
	}
	for call, arg := range map[string]uint{"open": 1, "openat": 2} {
		rules = append(rules, without(call, arg, strings.Split(creates, ",")...), without(call, arg+1, strings.Split(setID, ",")...))
	}
	slices.SortStableFunc(rules, func(a, b specs.LinuxSyscall) int { return strings.Compare(a.Names[0], b.Names[0]) })
	return filter(sockets, rules...)
}

// fileType masks the type in a file's mode, and files are the types that mknod(2) makes here: regular files, twice,
// fifos and sockets. A device with the number 0, a whiteout, takes no capability (fs/namei.c, vfs_mknod).
const fileType = 0o170000

var files = []uint64{0, 0o100000, 0o010000, 0o140000}

// Masks of a socket's type (net/socket.c, SOCK_TYPE_MASK) and of a request's (asm-generic/ioctl.h).
const (
	sockType    = 0xf
	requestType = 0xff00
)

// fileRequests are the requests of ioctl(2) on files that programs make.
var fileRequests = []string{
	"FIBMAP", "FICLONE", "FICLONERANGE", "FIDEDUPERANGE", "FIGETBSZ", "FS_IOC_FIEMAP", "FS_IOC_FSGETXATTR", "FS_IOC_FSSETXATTR", "FS_IOC_GETFLAGS",
	"FS_IOC_SETFLAGS", "RNDGETENTCNT",
}

// sockets are the calls that make and use them, and one whose flags are in memory, where no filter sees them.
var sockets = []string{"accept", "accept4", "bind", "connect", "listen", "openat2", "socket"}

func constant(name string) uint64 {
	value, ok := landlock.Constant(name)
	if !ok {
		panic("oci: no constant " + name)
	}
	return uint64(value)
}

// is allows a call with a value as an argument, counted from 0.
func is(call string, arg uint, value uint64) specs.LinuxSyscall {
	return allow(call, specs.LinuxSeccompArg{Index: arg, Value: value, Op: specs.OpEqualTo})
}

// masks allows a call with a value under a mask as an argument.
func masks(call string, arg uint, mask, value uint64) specs.LinuxSyscall {
	return allow(call, specs.LinuxSeccompArg{Index: arg, Value: mask, ValueTwo: value, Op: specs.OpMaskedEqual})
}

// without allows a call that has none of the flags in an argument.
func without(call string, arg uint, flags ...string) specs.LinuxSyscall {
	var bits uint64
	for _, name := range flags {
		bits |= constant(name)
	}
	return masks(call, arg, bits, 0)
}

func allow(call string, arg specs.LinuxSeccompArg) specs.LinuxSyscall {
	return specs.LinuxSyscall{Names: []string{call}, Action: specs.ActAllow, Args: []specs.LinuxSeccompArg{arg}}
}

// both allows a call with the arguments that each of two rules about it allows.
func both(a, b specs.LinuxSyscall) specs.LinuxSyscall {
	a.Args = append(a.Args, b.Args...)
	return a
}

// needed are the calls without which the entry point cannot confine, and those without which it
// cannot supervise.
var (
	confining   = []string{"landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self", "prctl", "seccomp"}
	supervising = []string{"openat2", "pidfd_getfd", "pidfd_open", "pidfd_send_signal", "process_vm_readv", "process_vm_writev"}
)

// allows reports whether a filter lets a call pass whatever its arguments are.
func allows(s *specs.LinuxSeccomp, call string) bool {
	passes := func(a specs.LinuxSeccompAction) bool { return a == specs.ActAllow || a == specs.ActLog }
	allowed := passes(s.DefaultAction)
	for _, rule := range s.Syscalls {
		if !slices.Contains(rule.Names, call) {
			continue
		}
		if !passes(rule.Action) {
			return false
		}
		allowed = allowed || len(rule.Args) == 0
	}
	return allowed
}
