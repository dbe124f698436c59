package landlock

import (
	"runtime"
	"slices"
	"strings"
)

// constant is a name of the kernel's user-space ABI (include/uapi) and its value, the
// same on amd64 and arm64 but for O_DIRECTORY.
type constant struct {
	name  string
	value uint32
}

// Constant returns the value of a constant that conditions may name.
func Constant(name string) (uint32, bool) {
	i, ok := slices.BinarySearchFunc(constants[:], name, compareName)
	if !ok {
		return 0, false
	}
	if name == "O_DIRECTORY" && runtime.GOARCH == "arm64" {
		return 0o40000, true // arch/arm64/include/uapi/asm/fcntl.h
	}
	return constants[i].value, true
}

func compareName(c constant, name string) int { return strings.Compare(c.name, name) }

// withPrefix lists the constants of one kind. The values of prctl(2), fcntl(2) and setsockopt(2) are all that a tool
// may use: PR_SET_MM, with which a process could change its own entries in /proc, leases, TCP_ULP and
// TCP_FASTOPEN_CONNECT are not among them.
func withPrefix(prefix string) []string {
	from, _ := slices.BinarySearchFunc(constants[:], prefix, compareName)
	to := from
	for to < len(constants) && strings.HasPrefix(constants[to].name, prefix) {
		to++
	}
	out := make([]string, 0, to-from)
	for _, c := range constants[from:to] {
		out = append(out, c.name)
	}
	return out
}

// fileRequests show something of a file, or share blocks of files that are open for it.
var fileRequests = []string{
	"FIBMAP", "FICLONE", "FICLONERANGE", "FIDEDUPERANGE", "FIGETBSZ", "FS_IOC32_GETFLAGS", "FS_IOC_FIEMAP",
	"FS_IOC_FSGETXATTR", "FS_IOC_GETFLAGS", "FS_IOC_GETFSLABEL", "FS_IOC_GETFSSYSFSPATH", "FS_IOC_GETFSUUID",
	"FS_IOC_GETVERSION", "RNDGETENTCNT",
}

// metadataRequests change flags of a file; see metadata.
var metadataRequests = []string{"FS_IOC32_SETFLAGS", "FS_IOC_FSSETXATTR", "FS_IOC_SETFLAGS"}

// listenerRequests are the requests of a listener of the tool's own (seccomp_unotify(2)).
var listenerRequests = []string{
	"SECCOMP_IOCTL_NOTIF_ADDFD", "SECCOMP_IOCTL_NOTIF_ID_VALID", "SECCOMP_IOCTL_NOTIF_RECV", "SECCOMP_IOCTL_NOTIF_SEND",
	"SECCOMP_IOCTL_NOTIF_SET_FLAG",
}

// constants is sorted by name. IOCTL_ names stand for the requests of one kind of driver,
// by its letter (ioctl(2)).
var constants = [...]constant{
	{"AF_INET", 2},
	{"AF_INET6", 10},
	{"AF_NETLINK", 16},
	{"AF_UNIX", 1},
	{"CLONE_NEWCGROUP", 0x02000000},
	{"CLONE_NEWIPC", 0x08000000},
	{"CLONE_NEWNET", 0x40000000},
	{"CLONE_NEWNS", 0x00020000},
	{"CLONE_NEWPID", 0x20000000},
	{"CLONE_NEWTIME", 0x00000080},
	{"CLONE_NEWUSER", 0x10000000},
	{"CLONE_NEWUTS", 0x04000000},
	{"CLONE_PARENT", 0x00008000},
	{"FIBMAP", 1},
	{"FICLONE", 0x40049409},
	{"FICLONERANGE", 0x4020940d},
	{"FIDEDUPERANGE", 0xc0189436},
	{"FIGETBSZ", 2},
	{"FS_IOC32_GETFLAGS", 0x80046601},
	{"FS_IOC32_SETFLAGS", 0x40046602},
	{"FS_IOC_FIEMAP", 0xc020660b},
	{"FS_IOC_FSGETXATTR", 0x801c581f},
	{"FS_IOC_FSSETXATTR", 0x401c5820},
	{"FS_IOC_GETFLAGS", 0x80086601},
	{"FS_IOC_GETFSLABEL", 0x81009431},
	{"FS_IOC_GETFSSYSFSPATH", 0x80811501},
	{"FS_IOC_GETFSUUID", 0x80111500},
	{"FS_IOC_GETVERSION", 0x80087601},
	{"FS_IOC_SETFLAGS", 0x40086602},
	{"F_ADD_SEALS", 1033},
	{"F_CANCELLK", 1029},
	{"F_CREATED_QUERY", 1028},
	{"F_DUPFD", 0},
	{"F_DUPFD_CLOEXEC", 1030},
	{"F_DUPFD_QUERY", 1027},
	{"F_GETFD", 1},
	{"F_GETFL", 3},
	{"F_GETLEASE", 1025},
	{"F_GETLK", 5},
	{"F_GETOWN", 9},
	{"F_GETOWNER_UIDS", 17},
	{"F_GETOWN_EX", 16},
	{"F_GETPIPE_SZ", 1032},
	{"F_GETSIG", 11},
	{"F_GET_FILE_RW_HINT", 1037},
	{"F_GET_RW_HINT", 1035},
	{"F_GET_SEALS", 1034},
	{"F_OFD_GETLK", 36},
	{"F_OFD_SETLK", 37},
	{"F_OFD_SETLKW", 38},
	{"F_SETFD", 2},
	{"F_SETFL", 4},
	{"F_SETLK", 6},
	{"F_SETLKW", 7},
	{"F_SETOWN", 8},
	{"F_SETOWN_EX", 15},
	{"F_SETPIPE_SZ", 1031},
	{"F_SETSIG", 10},
	{"IOCTL_SOCKET", 0x8900},
	{"IOCTL_TERMINAL", 0x5400},
	{"IOPRIO_WHO_PROCESS", 1},
	{"IPPROTO_IP", 0},
	{"IPPROTO_IPV6", 41},
	{"IPPROTO_TCP", 6},
	{"IPPROTO_UDP", 17},
	{"IPV6_ADDR_PREFERENCES", 72},
	{"IPV6_AUTOFLOWLABEL", 70},
	{"IPV6_DONTFRAG", 62},
	{"IPV6_MTU_DISCOVER", 23},
	{"IPV6_RECVERR", 25},
	{"IPV6_RECVHOPLIMIT", 51},
	{"IPV6_RECVPKTINFO", 49},
	{"IPV6_RECVTCLASS", 66},
	{"IPV6_TCLASS", 67},
	{"IPV6_UNICAST_HOPS", 16},
	{"IPV6_V6ONLY", 26},
	{"IP_BIND_ADDRESS_NO_PORT", 24},
	{"IP_LOCAL_PORT_RANGE", 51},
	{"IP_MTU_DISCOVER", 10},
	{"IP_PKTINFO", 8},
	{"IP_RECVERR", 11},
	{"IP_RECVTOS", 13},
	{"IP_RECVTTL", 12},
	{"IP_TOS", 1},
	{"IP_TTL", 2},
	{"MSG_FASTOPEN", 0x20000000},
	{"NETLINK_ROUTE", 0},
	{"O_CREAT", 0o100},
	{"O_DIRECTORY", 0o200000},
	{"O_PATH", 0o10000000},
	{"O_RDONLY", 0},
	{"O_RDWR", 2},
	{"O_TRUNC", 0o1000},
	{"O_WRONLY", 1},
	{"PRIO_PROCESS", 0},
	{"PR_CAPBSET_DROP", 24},
	{"PR_CAPBSET_READ", 23},
	{"PR_CAP_AMBIENT", 47},
	{"PR_FUTEX_HASH", 78},
	{"PR_GET_AUXV", 0x41555856},
	{"PR_GET_CHILD_SUBREAPER", 37},
	{"PR_GET_DUMPABLE", 3},
	{"PR_GET_KEEPCAPS", 7},
	{"PR_GET_MDWE", 66},
	{"PR_GET_MEMORY_MERGE", 68},
	{"PR_GET_NAME", 16},
	{"PR_GET_NO_NEW_PRIVS", 39},
	{"PR_GET_PDEATHSIG", 2},
	{"PR_GET_SECCOMP", 21},
	{"PR_GET_SECUREBITS", 27},
	{"PR_GET_SHADOW_STACK_STATUS", 74},
	{"PR_GET_SPECULATION_CTRL", 52},
	{"PR_GET_TAGGED_ADDR_CTRL", 56},
	{"PR_GET_THP_DISABLE", 42},
	{"PR_GET_TID_ADDRESS", 40},
	{"PR_GET_TIMERSLACK", 30},
	{"PR_GET_TIMING", 13},
	{"PR_GET_TSC", 25},
	{"PR_LOCK_SHADOW_STACK_STATUS", 76},
	{"PR_MCE_KILL", 33},
	{"PR_MCE_KILL_GET", 34},
	{"PR_PAC_GET_ENABLED_KEYS", 61},
	{"PR_PAC_RESET_KEYS", 54},
	{"PR_PAC_SET_ENABLED_KEYS", 60},
	{"PR_SET_CHILD_SUBREAPER", 36},
	{"PR_SET_DUMPABLE", 4},
	{"PR_SET_KEEPCAPS", 8},
	{"PR_SET_MDWE", 65},
	{"PR_SET_MEMORY_MERGE", 67},
	{"PR_SET_NAME", 15},
	{"PR_SET_NO_NEW_PRIVS", 38},
	{"PR_SET_PDEATHSIG", 1},
	{"PR_SET_PTRACER", 0x59616d61},
	{"PR_SET_SECCOMP", 22},
	{"PR_SET_SECUREBITS", 28},
	{"PR_SET_SHADOW_STACK_STATUS", 75},
	{"PR_SET_SPECULATION_CTRL", 53},
	{"PR_SET_SYSCALL_USER_DISPATCH", 59},
	{"PR_SET_TAGGED_ADDR_CTRL", 55},
	{"PR_SET_THP_DISABLE", 41},
	{"PR_SET_TIMERSLACK", 29},
	{"PR_SET_TIMING", 14},
	{"PR_SET_TSC", 26},
	{"PR_SET_VMA", 0x53564d41},
	{"PR_SME_GET_VL", 64},
	{"PR_SME_SET_VL", 63},
	{"PR_SVE_GET_VL", 51},
	{"PR_SVE_SET_VL", 50},
	{"PR_TIMER_CREATE_RESTORE_IDS", 77},
	{"RENAME_WHITEOUT", 4},
	{"RNDGETENTCNT", 0x80045200},
	{"SECCOMP_IOCTL_NOTIF_ADDFD", 0x40182103},
	{"SECCOMP_IOCTL_NOTIF_ID_VALID", 0x40082102},
	{"SECCOMP_IOCTL_NOTIF_RECV", 0xc0502100},
	{"SECCOMP_IOCTL_NOTIF_SEND", 0xc0182101},
	{"SECCOMP_IOCTL_NOTIF_SET_FLAG", 0x40082104},
	{"SOCK_DGRAM", 2},
	{"SOCK_RAW|SOCK_CLOEXEC", 3 | 0o2000000},
	{"SOCK_SEQPACKET", 5},
	{"SOCK_STREAM", 1},
	{"SOL_SOCKET", 1},
	{"SO_ATTACH_FILTER", 26},
	{"SO_BROADCAST", 6},
	{"SO_BUF_LOCK", 72},
	{"SO_BUSY_POLL", 46},
	{"SO_DETACH_FILTER", 27},
	{"SO_DONTROUTE", 5},
	{"SO_INCOMING_CPU", 49},
	{"SO_KEEPALIVE", 9},
	{"SO_LINGER", 13},
	{"SO_LOCK_FILTER", 44},
	{"SO_MAX_PACING_RATE", 47},
	{"SO_NO_CHECK", 11},
	{"SO_OOBINLINE", 10},
	{"SO_PASSCRED", 16},
	{"SO_PASSPIDFD", 76},
	{"SO_PASSRIGHTS", 83},
	{"SO_PASSSEC", 34},
	{"SO_PEEK_OFF", 42},
	{"SO_PREFER_BUSY_POLL", 69},
	{"SO_PRIORITY", 12},
	{"SO_RCVBUF", 8},
	{"SO_RCVLOWAT", 18},
	{"SO_RCVTIMEO", 20},
	{"SO_RCVTIMEO_NEW", 66},
	{"SO_REUSEADDR", 2},
	{"SO_REUSEPORT", 15},
	{"SO_RXQ_OVFL", 40},
	{"SO_SELECT_ERR_QUEUE", 45},
	{"SO_SNDBUF", 7},
	{"SO_SNDLOWAT", 19},
	{"SO_SNDTIMEO", 21},
	{"SO_SNDTIMEO_NEW", 67},
	{"SO_TIMESTAMP", 29},
	{"SO_TIMESTAMPING", 37},
	{"SO_TIMESTAMPING_NEW", 65},
	{"SO_TIMESTAMPNS", 35},
	{"SO_TIMESTAMPNS_NEW", 64},
	{"SO_TIMESTAMP_NEW", 63},
	{"SO_TXREHASH", 74},
	{"SO_ZEROCOPY", 60},
	{"S_IFBLK", 0o60000},
	{"S_IFCHR", 0o20000},
	{"S_ISGID", 0o2000},
	{"S_ISUID", 0o4000},
	{"TCP_CONGESTION", 13},
	{"TCP_CORK", 3},
	{"TCP_DEFER_ACCEPT", 9},
	{"TCP_INQ", 36},
	{"TCP_KEEPCNT", 6},
	{"TCP_KEEPIDLE", 4},
	{"TCP_KEEPINTVL", 5},
	{"TCP_LINGER2", 8},
	{"TCP_MAXSEG", 2},
	{"TCP_NODELAY", 1},
	{"TCP_NOTSENT_LOWAT", 25},
	{"TCP_QUICKACK", 12},
	{"TCP_SAVE_SYN", 27},
	{"TCP_SYNCNT", 7},
	{"TCP_THIN_DUPACK", 17},
	{"TCP_THIN_LINEAR_TIMEOUTS", 16},
	{"TCP_TIMESTAMP", 24},
	{"TCP_TX_DELAY", 37},
	{"TCP_USER_TIMEOUT", 18},
	{"TCP_WINDOW_CLAMP", 10},
	{"TIOCCONS", 0x541d},
	{"TIOCLINUX", 0x541c},
	{"TIOCSETD", 0x5423},
	{"TIOCSTI", 0x5412},
	{"__O_TMPFILE", 0o20000000},
}
