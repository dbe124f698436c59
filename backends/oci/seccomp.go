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

// namespaces are the flags of clone(2) that make a namespace; unshare(2) knows a further flag.
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
			out.Syscalls = append(out.Syscalls,
				specs.LinuxSyscall{Names: g.Calls, Action: specs.ActErrno, ErrnoRet: &refused})
		}
	}
	return out
}

// seccomp is the filter around the entry point: the closed list of calls that every tool's filter begins
// with. The entry point needs no others, and puts the policy's own filter inside.
// See decision D261.
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
		without("clone", 0, append(slices.Clone(namespaces), "CLONE_PARENT")...),
		without("unshare", 0, append(slices.Clone(namespaces), "CLONE_NEWTIME")...),
		without("renameat2", 4, "RENAME_WHITEOUT"), without("sendmsg", 2, "MSG_FASTOPEN"),
		without("sendmmsg", 3, "MSG_FASTOPEN"),
		both(without("sendto", 3, "MSG_FASTOPEN"), is("sendto", 4, 0)),
		both(is("socketpair", 0, constant("AF_UNIX")), masks("socketpair", 1, sockType, constant("SOCK_STREAM"))),
		both(is("socketpair", 0, constant("AF_UNIX")), masks("socketpair", 1, sockType, constant("SOCK_SEQPACKET"))),
		both(is("setpriority", 0, constant("PRIO_PROCESS")), is("setpriority", 1, 0)),
		both(is("ioprio_set", 0, constant("IOPRIO_WHO_PROCESS")), is("ioprio_set", 1, 0)),
	}
	rules = append(rules, options("fcntl", 1)...)
	rules = append(rules, options("prctl", 0)...)
	for _, r := range options("setsockopt", 2) {
		rules = append(rules, both(is("setsockopt", 1, constant("SOL_SOCKET")), r))
	}
	for _, call := range []string{
		"prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler",
	} {
		rules = append(rules, is(call, 0, 0))
	}
	for _, request := range fileRequests {
		rules = append(rules, masks("ioctl", 1, low, constant(request)))
	}
	for _, request := range openRequests {
		rules = append(rules, masks("ioctl", 1, low, request))
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
		rules = append(rules, without(call, arg, strings.Split(creates, ",")...),
			without(call, arg+1, strings.Split(setID, ",")...))
	}
	slices.SortStableFunc(rules, func(a, b specs.LinuxSyscall) int { return strings.Compare(a.Names[0], b.Names[0]) })
	return filter(sockets, rules...)
}

// fileType masks the type in a file's mode, and files are the types that mknod(2) makes here: regular files, twice,
// fifos and sockets. A device with the number 0, a whiteout, takes no capability (fs/namei.c, vfs_mknod).
const fileType = 0o170000

var files = []uint64{0, 0o100000, 0o010000, 0o140000}

// Masks of a socket's type (net/socket.c, SOCK_TYPE_MASK), and of an argument that the kernel takes as 32 bits: musl
// extends the sign of a request (src/misc/ioctl.c).
const (
	sockType = 0xf
	low      = 0xffffffff
)

// fileRequests are the requests of ioctl(2) on files that programs make.
var fileRequests = []string{
	"FIBMAP", "FICLONE", "FICLONERANGE", "FIDEDUPERANGE", "FIGETBSZ", "FS_IOC_FIEMAP", "FS_IOC_FSGETXATTR",
	"FS_IOC_FSSETXATTR", "FS_IOC_GETFLAGS", "FS_IOC_SETFLAGS", "RNDGETENTCNT",
}

// openRequests are the requests of ioctl(2) on terminals, pipes, sockets and descriptors that programs make
// (asm-generic/ioctls.h, asm-generic/sockios.h). A terminal's input queue, its line discipline and the console
// belong to its session: TIOCSTI, TIOCLINUX, TIOCSETD and TIOCCONS are not among them.
var openRequests = []uint64{
	0x5401, 0x5402, 0x5403, 0x5404, // TCGETS, TCSETS, TCSETSW, TCSETSF
	0x5405, 0x5406, 0x5407, 0x5408, // TCGETA, TCSETA, TCSETAW, TCSETAF
	0x5409, 0x540a, 0x540b, 0x5425, // TCSBRK, TCXONC, TCFLSH, TCSBRKP
	0x540c, 0x540d, 0x540e, 0x5422, // TIOCEXCL, TIOCNXCL, TIOCSCTTY, TIOCNOTTY
	0x540f, 0x5410, 0x5429, // TIOCGPGRP, TIOCSPGRP, TIOCGSID
	0x5411, 0x541b, // TIOCOUTQ, FIONREAD
	0x5413, 0x5414, // TIOCGWINSZ, TIOCSWINSZ
	0x5415, 0x5416, 0x5417, 0x5418, // TIOCMGET, TIOCMBIS, TIOCMBIC, TIOCMSET
	0x5420, 0x5424, 0x5427, 0x5428, // TIOCPKT, TIOCGETD, TIOCSBRK, TIOCCBRK
	0x5421, 0x5450, 0x5451, 0x5452, 0x5460, // FIONBIO, FIONCLEX, FIOCLEX, FIOASYNC, FIOQSIZE
	0x802c542a, 0x402c542b, 0x402c542c, 0x402c542d, // TCGETS2, TCSETS2, TCSETSW2, TCSETSF2
	0x80045430, 0x40045431, 0x5441, // TIOCGPTN, TIOCSPTLCK, TIOCGPTPEER
	0x80045438, 0x80045439, 0x80045440, // TIOCGPKT, TIOCGPTLCK, TIOCGEXCL
	0x8903, 0x8904, 0x8905, // FIOGETOWN, SIOCGPGRP, SIOCATMARK
}

// options allows a call with those options, in an argument, to which accessc's own filter holds it.
func options(call string, arg uint) []specs.LinuxSyscall {
	var out []specs.LinuxSyscall
	for _, b := range landlock.Always() {
		if !slices.Contains(b.Syscalls, call) || call == "setsockopt" && !slices.Contains(b.When[0].In, "SOL_SOCKET") {
			continue
		}
		for _, c := range b.When {
			for _, name := range c.NotIn {
				out = append(out, masks(call, arg, low, constant(name)))
			}
		}
	}
	return out
}

// sockets are the calls that make and use sockets, and a call whose flags are in memory, where no filter sees them.
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
	supervising = []string{"openat2", "pidfd_getfd", "pidfd_open", "pidfd_send_signal", "process_vm_readv",
		"process_vm_writev"}
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
