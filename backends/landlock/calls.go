package landlock

import "slices"

// callsVersion is the version of the closed list of system calls: of Allowed, of
// Refused and of the argument lists in Always. A loader applies the version that it
// was built with and refuses a specification of another version.
const callsVersion = 2

// CallGroup is some system calls that are treated alike, and the reason.
type CallGroup struct {
	Name string // as in the document
	// Errno is the error that the calls end in; empty for calls that may run.
	Errno string
	// Why is the reason, in one sentence part.
	Why   string
	Calls []string // by their names in the kernel
}

// Allowed lists the system calls that may reach the kernel. Further blocks and traps
// can look at their arguments. A call that is in no group of Allowed or Refused, such
// as one of a newer kernel, fails with ENOSYS.
func Allowed() []CallGroup { return slices.Clone(allowed) }

// Refused lists the system calls that no policy grants.
func Refused() []CallGroup { return slices.Clone(refused) }

// KnownCall reports whether a system call is in a group of Allowed or Refused.
func KnownCall(name string) bool {
	has := func(g CallGroup) bool { return slices.Contains(g.Calls, name) }
	return slices.ContainsFunc(allowed, has) || slices.ContainsFunc(refused, has)
}

// See decision D48.
var allowed = []CallGroup{
	{Name: "descriptors", Why: "act on descriptors, which were judged when they were opened", Calls: []string{
		"close", "close_range", "copy_file_range", "dup", "dup2", "dup3", "epoll_create", "epoll_create1", "epoll_ctl",
		"epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd", "eventfd2", "fadvise64", "fallocate", "fcntl",
		"fdatasync", "flock", "fstat", "fstatfs", "fsync", "ftruncate", "getdents", "getdents64", "inotify_add_watch",
		"inotify_init", "inotify_init1", "inotify_rm_watch", "io_cancel", "io_destroy", "io_getevents", "io_pgetevents",
		"io_setup", "io_submit", "ioctl", "lseek", "pipe", "pipe2", "poll", "ppoll", "pread64", "preadv", "preadv2",
		"pselect6", "pwrite64", "pwritev", "pwritev2", "read", "readahead", "readv", "select", "sendfile", "signalfd",
		"signalfd4", "splice", "sync", "sync_file_range", "syncfs", "tee", "timerfd_create", "timerfd_gettime",
		"timerfd_settime", "vmsplice", "write", "writev",
	}},
	{Name: "paths", Why: "the ruleset or the supervisor holds them, or they show what no rule protects",
		Calls: []string{
			"access", "chdir", "creat", "faccessat", "faccessat2", "fchdir", "fgetxattr", "file_getattr", "flistxattr",
			"getcwd", "getxattr", "getxattrat", "lgetxattr", "link", "linkat", "listmount", "listxattr", "listxattrat",
			"llistxattr", "lstat", "mkdir", "mkdirat", "mknod", "mknodat", "name_to_handle_at", "newfstatat", "open",
			"openat", "openat2", "readlink", "readlinkat", "rename", "renameat", "renameat2", "rmdir", "stat", "statfs",
			"statmount", "statx", "symlink", "symlinkat", "sysfs", "truncate", "umask", "unlink", "unlinkat", "ustat",
		}},
	{Name: "metadata", Why: "the supervisor holds them, or a block of the policy refuses them", Calls: []string{
		"chmod", "chown", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "file_setattr", "fremovexattr",
		"fsetxattr", "futimesat", "lchown", "lremovexattr", "lsetxattr", "removexattr", "removexattrat", "setxattr",
		"setxattrat", "utime", "utimensat", "utimes",
	}},
	{Name: "memory", Why: "act on the memory of the process", Calls: []string{
		"brk", "cachestat", "futex", "futex_requeue", "futex_wait", "futex_waitv", "futex_wake", "get_mempolicy",
		"madvise", "map_shadow_stack", "mbind", "membarrier", "memfd_create", "memfd_secret", "mincore", "mlock",
		"mlock2", "mlockall", "mmap", "mprotect", "mremap", "mseal", "msync", "munlock", "munlockall", "munmap",
		"pkey_alloc", "pkey_free", "pkey_mprotect", "process_madvise", "remap_file_pages", "rseq", "rseq_slice_yield",
		"set_mempolicy", "set_mempolicy_home_node", "shmdt",
	}},
	{Name: "processes", Why: "act on the process and its children; Landlock keeps signals and ptrace(2) inside of " +
		"the sandbox", Calls: []string{
		"arch_prctl", "capget", "capset", "clone", "execve", "execveat", "exit", "exit_group", "fork",
		"get_robust_list", "get_thread_area", "getcpu", "getegid", "geteuid", "getgid", "getgroups", "getpgid",
		"getpgrp", "getpid", "getppid", "getpriority", "getresgid", "getresuid", "getrlimit", "getrusage", "getsid",
		"gettid", "getuid", "ioprio_get", "ioprio_set", "kcmp", "kill", "landlock_add_rule", "landlock_create_ruleset",
		"landlock_restrict_self", "lsm_get_self_attr", "lsm_list_modules", "migrate_pages", "modify_ldt", "move_pages",
		"personality", "pidfd_getfd", "pidfd_open", "pidfd_send_signal", "prctl", "prlimit64", "process_vm_readv",
		"process_vm_writev", "ptrace", "restart_syscall", "rt_sigaction", "rt_sigpending", "rt_sigprocmask",
		"rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "rt_tgsigqueueinfo",
		"sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity", "sched_getattr", "sched_getparam",
		"sched_getscheduler", "sched_rr_get_interval", "sched_setaffinity", "sched_setattr", "sched_setparam",
		"sched_setscheduler", "sched_yield", "seccomp", "set_robust_list", "set_thread_area", "set_tid_address",
		"setfsgid", "setfsuid", "setgid", "setgroups", "setpgid", "setpriority", "setregid", "setresgid", "setresuid",
		"setreuid", "setrlimit", "setsid", "setuid", "sigaltstack", "sysinfo", "tgkill", "times", "tkill", "uname",
		"unshare", "uprobe", "uretprobe", "vfork", "wait4", "waitid",
	}},
	{Name: "sockets", Why: "blocks and traps say which sockets can be made and what they reach", Calls: []string{
		"accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "listen", "recvfrom",
		"recvmmsg", "recvmsg", "sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown", "socket", "socketpair",
	}},
	{Name: "time", Why: "wait, or read a clock; setting one takes a capability", Calls: []string{
		"adjtimex", "alarm", "clock_adjtime", "clock_getres", "clock_gettime", "clock_nanosleep", "getitimer",
		"getrandom", "gettimeofday", "nanosleep", "pause", "setitimer", "time", "timer_create", "timer_delete",
		"timer_getoverrun", "timer_gettime", "timer_settime",
	}},
}

var refused = []CallGroup{
	{"io_uring", "ENOSYS", "its operations reach the kernel around the filter; programs fall back", []string{
		"io_uring_enter", "io_uring_register", "io_uring_setup",
	}},
	{"mounts", "EPERM", "the ruleset speaks of files where they are mounted now", []string{
		"chroot", "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount", "open_tree",
		"open_tree_attr", "pivot_root", "umount2",
	}},
	{"namespaces", "EPERM", "in another namespace paths and numbers mean other things", []string{"listns", "setns"}},
	// clone3 passes its flags in memory, where a filter cannot see them; the C libraries
	// fall back to clone.
	{"namespaces", "ENOSYS", "its flags are in memory, where a filter cannot see them; programs fall back to clone",
		[]string{"clone3"}},
	{"keys", "EPERM", "keys are shared with other processes of the user", []string{"add_key", "keyctl", "request_key"}},
	{Objects, "EPERM", "System V objects are shared with other processes of the user; a supervisor gives a tool " +
		"those of its own run", objectCalls},
	{Queues, "EPERM", "POSIX queues are shared with other processes of the user, and Landlock has no right for " +
		"them; a supervisor gives a tool those of its own run", queueCalls},
	{"kernel", "EPERM", "change or look into the kernel, or open files around their paths", []string{
		"acct", "bpf", "clock_settime", "delete_module", "fanotify_init", "fanotify_mark", "finit_module",
		"init_module", "ioperm", "iopl", "kexec_file_load", "kexec_load", "lsm_set_self_attr", "open_by_handle_at",
		"perf_event_open", "process_mrelease", "quotactl", "quotactl_fd", "reboot", "setdomainname", "sethostname",
		"settimeofday", "swapoff", "swapon", "syslog", "userfaultfd", "vhangup",
	}},
	{"obsolete", "ENOSYS", "today's kernels do not have them", []string{
		"_sysctl", "afs_syscall", "arch_specific_syscall", "create_module", "epoll_ctl_old", "epoll_wait_old",
		"get_kernel_syms", "getpmsg", "lookup_dcookie", "nfsservctl", "putpmsg", "query_module", "security", "tuxcall",
		"uselib", "vserver",
	}},
}

// Objects and Queues are the groups of the calls on System V objects and POSIX message queues. A supervisor that traps
// them takes their place in Always.
const Objects, Queues = "ipc", "queues"

var objectCalls = []string{
	"msgctl", "msgget", "msgrcv", "msgsnd", "semctl", "semget", "semop", "semtimedop", "shmat", "shmctl", "shmget",
}

var queueCalls = []string{"mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink"}

// Always is the blocks of every filter, whatever the policy says: the refused calls, and
// closed lists of the arguments by which an allowed call would reach out of the sandbox.
func Always() []Block {
	out := make([]Block, 0, 48) // with the calls of a policy
	for _, g := range refused {
		out = append(out, Block{Group: g.Name, Errno: g.Errno, Syscalls: g.Calls})
	}
	return append(append(out, arguments()...), setIDFiles...)
}

// arguments is the closed lists of arguments.
func arguments() []Block {
	return []Block{
		{Group: "namespaces", Errno: "EPERM", Syscalls: []string{"unshare"}, When: []Condition{
			{Arg: 0, AnyBit: append([]string{"CLONE_NEWTIME"}, namespaces...)},
		}},
		{Group: "namespaces", Errno: "EPERM", Syscalls: []string{"clone"},
			When: []Condition{{Arg: 0, AnyBit: namespaces}}},
		// A child of the tool's parent is a process that a host does not know of, and whose end it never waits for.
		{Group: "parents", Errno: "EPERM", Syscalls: []string{"clone"},
			When: []Condition{{Arg: 0, AnyBit: []string{"CLONE_PARENT"}}}},
		{Group: "whiteout", Errno: "EINVAL", Syscalls: []string{"renameat2"},
			When: []Condition{{Arg: 4, AnyBit: []string{"RENAME_WHITEOUT"}}}},
		// A terminal's input queue, its line discipline and the console belong to its session.
		{Group: "terminal", Errno: "EPERM", Syscalls: []string{"ioctl"}, When: []Condition{
			{Arg: 1, In: []string{"TIOCSTI", "TIOCLINUX", "TIOCSETD", "TIOCCONS"}},
		}},
		// Drivers and file systems have requests that make, copy and remove files (btrfs), or
		// change files that may only be read. They are told apart only by their number.
		{Group: "requests", Errno: "ENOTTY", Syscalls: []string{"ioctl"}, When: []Condition{
			{Arg: 1, Mask: ioctlType, NotIn: []string{"IOCTL_TERMINAL", "IOCTL_SOCKET"}},
			{Arg: 1, NotIn: slices.Concat(fileRequests, metadataRequests, listenerRequests)},
		}},
		{Group: "options", Errno: "EINVAL", Syscalls: []string{"prctl"},
			When: []Condition{{Arg: 0, NotIn: withPrefix("PR_")}}},
		// A lease delays every process that opens the file; a directory notification is a
		// signal; a hint about the life of written data stays with the inode, whatever the file is open for.
		{Group: "leases", Errno: "EINVAL", Syscalls: []string{"fcntl"},
			When: []Condition{{Arg: 1, NotIn: withPrefix("F_")}}},
		{Group: "socket options", Errno: "ENOPROTOOPT", Syscalls: []string{"setsockopt"}, When: []Condition{
			{Arg: 1, NotIn: []string{"SOL_SOCKET", "IPPROTO_TCP", "IPPROTO_IP", "IPPROTO_IPV6"}},
		}},
		{Group: "socket options", Errno: "ENOPROTOOPT", Syscalls: []string{"setsockopt"}, When: []Condition{
			{Arg: 1, In: []string{"SOL_SOCKET"}}, {Arg: 2, NotIn: withPrefix("SO_")},
		}},
		{Group: "socket options", Errno: "ENOPROTOOPT", Syscalls: []string{"setsockopt"}, When: []Condition{
			{Arg: 1, In: []string{"IPPROTO_TCP"}}, {Arg: 2, NotIn: withPrefix("TCP_")},
		}},
		{Group: "socket options", Errno: "ENOPROTOOPT", Syscalls: []string{"setsockopt"}, When: []Condition{
			{Arg: 1, In: []string{"IPPROTO_IP"}}, {Arg: 2, NotIn: withPrefix("IP_")},
		}},
		{Group: "socket options", Errno: "ENOPROTOOPT", Syscalls: []string{"setsockopt"}, When: []Condition{
			{Arg: 1, In: []string{"IPPROTO_IPV6"}}, {Arg: 2, NotIn: withPrefix("IPV6_")},
		}},
		// Data in the first packet goes to an address that no call to connect shows.
		{Group: "network", Errno: "EACCES", Syscalls: []string{"sendto"},
			When: []Condition{{Arg: 3, AnyBit: fastOpen}}},
		{Group: "network", Errno: "EACCES", Syscalls: []string{"sendmsg"},
			When: []Condition{{Arg: 2, AnyBit: fastOpen}}},
		{Group: "network", Errno: "EACCES", Syscalls: []string{"sendmmsg"},
			When: []Condition{{Arg: 3, AnyBit: fastOpen}}},
	}
}

var fastOpen = []string{"MSG_FASTOPEN"}

// setIDFiles refuses to make a file that would run with the identity of its owner or group:
// another user could start it, and no_new_privs binds only the tool.
var setIDFiles = []Block{
	{Group: "set-id", Errno: "EPERM", Syscalls: []string{"creat", "mknod"},
		When: []Condition{{Arg: 1, AnyBit: setIDBits}}},
	{Group: "set-id", Errno: "EPERM", Syscalls: []string{"mknodat"}, When: []Condition{{Arg: 2, AnyBit: setIDBits}}},
	{Group: "set-id", Errno: "EPERM", Syscalls: []string{"open"}, When: []Condition{
		{Arg: 1, AnyBit: []string{"O_CREAT", "__O_TMPFILE"}}, {Arg: 2, AnyBit: setIDBits},
	}},
	{Group: "set-id", Errno: "EPERM", Syscalls: []string{"openat"}, When: []Condition{
		{Arg: 2, AnyBit: []string{"O_CREAT", "__O_TMPFILE"}}, {Arg: 3, AnyBit: setIDBits},
	}},
}

// setIDModes refuses the same to those calls that change a mode. A supervisor tells
// directories apart, where the bit of the group means no more than inheritance.
var setIDModes = []Block{
	{Group: "set-id", Errno: "EPERM", Syscalls: []string{"chmod", "fchmod"},
		When: []Condition{{Arg: 1, AnyBit: setIDBits}}},
	{Group: "set-id", Errno: "EPERM", Syscalls: []string{"fchmodat", "fchmodat2"},
		When: []Condition{{Arg: 2, AnyBit: setIDBits}}},
}

var setIDBits = []string{"S_ISUID", "S_ISGID"}

// ioctlType masks the byte of an ioctl request that names its driver (ioctl(2)).
const ioctlType = 0xff00
