package landlock

import "github.com/accessc/accessc/ir"

// Block makes some system calls fail, or with the errno OK succeed without any
// effect. All conditions must hold; a call without conditions always fails. Names that an architecture does not have are skipped
// there.
type Block struct {
	Group    string      `json:"group"`
	Errno    string      `json:"errno"`
	Syscalls []string    `json:"syscalls"`
	When     []Condition `json:"when,omitempty"`
	// From and To bound the ABI versions at which the block is needed; 0 means all.
	From int `json:"from_abi,omitempty"`
	To   int `json:"to_abi,omitempty"`
}

// Condition compares one argument register. In, NotIn and AnyBit name constants of
// the kernel's headers; In and NotIn compare the low 32 bits under Mask (all of
// them where it is 0), NonZero the whole register.
type Condition struct {
	Arg     int      `json:"arg"`
	Mask    uint32   `json:"mask,omitempty"`
	In      []string `json:"in,omitempty"`
	NotIn   []string `json:"not_in,omitempty"`
	AnyBit  []string `json:"any_bit,omitempty"`
	NonZero bool     `json:"nonzero,omitempty"`
}

// constants are the values of the kernel's user-space ABI (include/uapi), the same
// on amd64 and arm64.
var constants = map[string]uint32{
	"AF_INET":           2,
	"AF_INET6":          10,
	"AF_UNIX":           1,
	"CLONE_NEWCGROUP":   0x02000000,
	"CLONE_NEWIPC":      0x08000000,
	"CLONE_NEWNET":      0x40000000,
	"CLONE_NEWNS":       0x00020000,
	"CLONE_NEWPID":      0x20000000,
	"CLONE_NEWTIME":     0x00000080,
	"CLONE_NEWUSER":     0x10000000,
	"CLONE_NEWUTS":      0x04000000,
	"FS_IOC32_SETFLAGS": 0x40046602,
	"FS_IOC_FSSETXATTR": 0x401c5820,
	"FS_IOC_SETFLAGS":   0x40086602,
	"IPPROTO_IP":        0,
	"IPPROTO_TCP":       6,
	"IPPROTO_UDP":       17,
	"MSG_FASTOPEN":      0x20000000,
	"O_CREAT":           0o100,
	"O_PATH":            0o10000000,
	"O_RDONLY":          0,
	"O_RDWR":            2,
	"O_TRUNC":           0o1000,
	"O_WRONLY":          1,
	"PR_SET_DUMPABLE":   4,
	"RENAME_WHITEOUT":   4,
	"SOCK_DGRAM":        2,
	"SOCK_SEQPACKET":    5,
	"SOCK_STREAM":       1,
	"TIOCLINUX":         0x541c,
	"TIOCSTI":           0x5412,
	"__O_TMPFILE":       0o20000000,
}

// Constant returns the value of a constant that conditions may name.
func Constant(name string) (uint32, bool) {
	v, ok := constants[name]
	return v, ok
}

// Masks of a socket's type (net/socket.c, SOCK_TYPE_MASK) and of an open mode
// (O_ACCMODE).
const (
	sockTypeMask = 0xf
	accMode      = 3
)

// namespaces are the flags of clone(2) that make one. unshare(2) knows one more,
// whose bit belongs to the exit signal in clone.
var namespaces = []string{
	"CLONE_NEWCGROUP", "CLONE_NEWIPC", "CLONE_NEWNET", "CLONE_NEWNS", "CLONE_NEWPID", "CLONE_NEWUSER", "CLONE_NEWUTS",
}

// always is refused whatever the policy says: what would undo the sandbox, reach
// the kernel around it, or put words into somebody else's terminal.
var always = []Block{
	{Group: "io_uring", Errno: "ENOSYS", Syscalls: []string{"io_uring_setup", "io_uring_enter", "io_uring_register"}},
	{Group: "mounts", Errno: "EPERM", Syscalls: []string{
		"mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig",
		"fsmount", "fspick", "mount_setattr",
	}},
	{Group: "namespaces", Errno: "EPERM", Syscalls: []string{"setns"}},
	{Group: "namespaces", Errno: "EPERM", Syscalls: []string{"unshare"}, When: []Condition{
		{Arg: 0, AnyBit: append([]string{"CLONE_NEWTIME"}, namespaces...)},
	}},
	{Group: "namespaces", Errno: "EPERM", Syscalls: []string{"clone"}, When: []Condition{{Arg: 0, AnyBit: namespaces}}},
	// clone3 passes its flags in memory, where a filter cannot see them; the C
	// libraries fall back to clone.
	{Group: "namespaces", Errno: "ENOSYS", Syscalls: []string{"clone3"}},
	{Group: "keys", Errno: "EPERM", Syscalls: []string{"add_key", "request_key", "keyctl"}},
	{Group: "kernel", Errno: "EPERM", Syscalls: []string{
		"acct", "bpf", "delete_module", "fanotify_init", "finit_module", "init_module", "ioperm", "iopl", "kexec_file_load",
		"kexec_load", "lookup_dcookie", "nfsservctl", "open_by_handle_at", "perf_event_open", "quotactl", "quotactl_fd",
		"reboot", "swapoff", "swapon", "syslog", "userfaultfd", "vhangup",
	}},
	{Group: "terminal", Errno: "EPERM", Syscalls: []string{"ioctl"}, When: []Condition{{Arg: 1, In: []string{"TIOCSTI", "TIOCLINUX"}}}},
	{Group: "whiteout", Errno: "EINVAL", Syscalls: []string{"renameat2"}, When: []Condition{{Arg: 4, AnyBit: []string{"RENAME_WHITEOUT"}}}},
}

// sockets closes the network. Landlock alone leaves UDP, raw, MPTCP, netlink,
// packet, vsock and unix sockets open (up to ABI 8; some of them later, too), and
// TCP by MSG_FASTOPEN; without sockets none of them is left. Pairs of connected
// unix sockets stay: they reach nobody else, but for datagram pairs, which can be
// given an address with every message.
var sockets = []Block{
	{Group: "network", Errno: "EACCES", Syscalls: []string{"socket", "connect", "bind", "listen", "accept", "accept4"}},
	{Group: "network", Errno: "EACCES", Syscalls: []string{"socketpair"}, When: []Condition{{Arg: 0, NotIn: []string{"AF_UNIX"}}}},
	{Group: "network", Errno: "EACCES", Syscalls: []string{"socketpair"}, When: []Condition{
		{Arg: 1, Mask: sockTypeMask, NotIn: []string{"SOCK_STREAM", "SOCK_SEQPACKET"}},
	}},
	{Group: "network", Errno: "EACCES", Syscalls: []string{"sendto"}, When: []Condition{{Arg: 4, NonZero: true}}},
}

// metadata changes what Landlock has no right for.
var metadata = []Block{
	{Group: "metadata", Errno: "EPERM", Syscalls: []string{
		"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "utimensat",
		"futimesat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr",
		"removexattrat", "file_setattr",
	}},
	{Group: "metadata", Errno: "EPERM", Syscalls: []string{"ioctl"}, When: []Condition{
		{Arg: 1, In: []string{"FS_IOC_SETFLAGS", "FS_IOC32_SETFLAGS", "FS_IOC_FSSETXATTR"}},
	}},
}

// links are refused where Landlock would let a link be made that needs more than
// it checks: it wants the right to make a file, the policy also read and update.
var links = []Block{{Group: "links", Errno: "EPERM", Syscalls: []string{"link", "linkat"}}}

// truncation closes what ABI 1 and 2 do not mediate. openat2 passes its flags in
// memory; callers fall back to openat.
var truncation = []Block{
	{Group: "truncate", Errno: "EACCES", To: 2, Syscalls: []string{"truncate"}},
	{Group: "truncate", Errno: "EACCES", To: 2, Syscalls: []string{"open"}, When: []Condition{
		{Arg: 1, Mask: accMode, In: []string{"O_RDONLY"}}, {Arg: 1, AnyBit: []string{"O_TRUNC"}},
	}},
	{Group: "truncate", Errno: "EACCES", To: 2, Syscalls: []string{"openat"}, When: []Condition{
		{Arg: 2, Mask: accMode, In: []string{"O_RDONLY"}}, {Arg: 2, AnyBit: []string{"O_TRUNC"}},
	}},
	{Group: "truncate", Errno: "ENOSYS", To: 2, Syscalls: []string{"openat2"}},
}

// filter is the blocks that a policy needs.
func (f *floor) filter() []Block {
	out := append([]Block{}, always...)
	out = append(out, sockets...)
	if !f.updatesMetadata() {
		out = append(out, metadata...)
	}
	if f.refusesLinks() {
		out = append(out, links...)
	}
	return append(out, truncation...)
}

// updatesMetadata reports whether the policy grants update anywhere but in the
// tool's private directories and on the devices of the base.
func (f *floor) updatesMetadata() bool {
	granted := false
	f.walk(func(p, _ *plan) {
		switch p.region.At.Root.Kind {
		case ir.Workspace, ir.External:
			granted = granted || p.region.Caps.Has(ir.Update)
		case ir.System, ir.Home, ir.Temp:
		}
	})
	return granted
}

// refusesLinks reports whether some region lets names be made without granting
// what a hard link to it needs.
func (f *floor) refusesLinks() bool {
	refuse := false
	f.walk(func(p, _ *plan) {
		c := p.region.Caps
		if c.Has(ir.Create) && !(c.Has(ir.Read) && c.Has(ir.Update)) {
			refuse = true
		}
	})
	return refuse
}

// Network returns the blocks that take the place of the closed network when its
// cells are accepted: TCP and UDP over IP, nothing else, and no way around the
// ports that Landlock opens. The fields are those of socket(2) and sendto(2).
func Network() []Block {
	return []Block{
		{Group: "network", Errno: "EACCES", Syscalls: []string{"bind", "listen", "accept", "accept4"}},
		{Group: "network", Errno: "EACCES", Syscalls: []string{"socket"}, When: []Condition{{Arg: 0, NotIn: []string{"AF_INET", "AF_INET6"}}}},
		{Group: "network", Errno: "EACCES", Syscalls: []string{"socket"}, When: []Condition{
			{Arg: 1, Mask: sockTypeMask, NotIn: []string{"SOCK_STREAM", "SOCK_DGRAM"}},
		}},
		{Group: "network", Errno: "EACCES", Syscalls: []string{"socket"}, When: []Condition{{Arg: 2, NotIn: []string{"IPPROTO_IP", "IPPROTO_TCP", "IPPROTO_UDP"}}}},
		sockets[1], sockets[2],
		{Group: "network", Errno: "EACCES", Syscalls: []string{"sendto"}, When: []Condition{{Arg: 3, AnyBit: []string{"MSG_FASTOPEN"}}}},
		{Group: "network", Errno: "EACCES", Syscalls: []string{"sendmsg"}, When: []Condition{{Arg: 2, AnyBit: []string{"MSG_FASTOPEN"}}}},
		{Group: "network", Errno: "EACCES", Syscalls: []string{"sendmmsg"}, When: []Condition{{Arg: 3, AnyBit: []string{"MSG_FASTOPEN"}}}},
	}
}
