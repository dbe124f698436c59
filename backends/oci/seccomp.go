package oci

import (
	"slices"

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

// seccomp is the filter around the entry point: the closed list of calls that every tool's filter begins
// with. The entry point needs no others, and puts the policy's own filter inside.
// See RATIONALE D261.
func seccomp() *specs.LinuxSeccomp {
	unknown, refused := uint(errNoSys), uint(errPerm)
	out := &specs.LinuxSeccomp{
		DefaultAction: specs.ActErrno, DefaultErrnoRet: &unknown,
		Architectures: []specs.Arch{specs.ArchX86_64, specs.ArchAARCH64},
	}
	var names []string
	for _, g := range landlock.Allowed() {
		for _, call := range g.Calls {
			if call != "clone" && call != "unshare" {
				names = append(names, call)
			}
		}
	}
	slices.Sort(names)
	out.Syscalls = append(out.Syscalls, specs.LinuxSyscall{Names: names, Action: specs.ActAllow},
		without("clone", namespaces), without("unshare", append(slices.Clone(namespaces), "CLONE_NEWTIME")))
	for _, g := range landlock.Refused() {
		if g.Errno == "EPERM" {
			out.Syscalls = append(out.Syscalls, specs.LinuxSyscall{Names: g.Calls, Action: specs.ActErrno, ErrnoRet: &refused})
		}
	}
	return out
}

// without allows a call whose first argument has none of the flags.
func without(call string, flags []string) specs.LinuxSyscall {
	var bits uint64
	for _, name := range flags {
		bit, _ := landlock.Constant(name)
		bits |= uint64(bit)
	}
	return specs.LinuxSyscall{
		Names: []string{call}, Action: specs.ActAllow,
		Args: []specs.LinuxSeccompArg{{Index: 0, Value: bits, ValueTwo: 0, Op: specs.OpMaskedEqual}},
	}
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
