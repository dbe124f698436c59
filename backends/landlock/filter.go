package landlock

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// Block makes some system calls fail, or with the errno OK succeed without any effect. All
// conditions must be true; a call without conditions always fails. Names that an architecture
// does not have are skipped there.
type Block struct {
	Group string `json:"group"` // the list that the calls are on
	// Errno names the error of the calls, or is "OK".
	Errno    string      `json:"errno"`
	Syscalls []string    `json:"syscalls"`       // by their names in the kernel
	When     []Condition `json:"when,omitempty"` // all must be true
	// From and To bound the ABI versions at which the block is needed; 0 means all.
	From int `json:"from_abi,omitempty"`
	To   int `json:"to_abi,omitempty"`
}

// Condition compares one argument register. In, NotIn and AnyBit name constants of
// the kernel's headers; In and NotIn compare the low 32 bits under Mask (all of
// them where it is 0), NonZero the whole register.
type Condition struct {
	Arg     int      `json:"arg"`               // counted from 0
	Mask    uint32   `json:"mask,omitempty"`    // applied before the comparison
	In      []string `json:"in,omitempty"`      // equal to one of them
	NotIn   []string `json:"not_in,omitempty"`  // equal to none of them
	AnyBit  []string `json:"any_bit,omitempty"` // has a bit of one of them
	NonZero bool     `json:"nonzero,omitempty"` // has any bit
}

// Masks of a socket's type (net/socket.c, SOCK_TYPE_MASK), of an open mode (O_ACCMODE)
// and of the flag of an open that reaches no contents (O_PATH).
const (
	sockTypeMask = 0xf
	accMode      = 3
	pathOnly     = 0o10000000
)

// namespaces are the flags of clone(2) that make a namespace. unshare(2) knows a further flag,
// whose bit belongs to the exit signal in clone.
// See decision D42.
var namespaces = []string{
	"CLONE_NEWCGROUP", "CLONE_NEWIPC", "CLONE_NEWNET", "CLONE_NEWNS", "CLONE_NEWPID", "CLONE_NEWUSER", "CLONE_NEWUTS",
}

// sockets closes the network. Landlock by itself leaves UDP, raw, MPTCP, netlink, packet, vsock and
// unix sockets open (up to ABI 8; some of them later, too), and TCP by MSG_FASTOPEN; without
// sockets none of them is left. Pairs of connected unix sockets stay: they reach no other
// process, except for datagram pairs, which can be given an address with every message.
// See decision D42.
var sockets = []Block{
	{Group: "network", Errno: "EACCES", Syscalls: []string{"socket", "connect", "bind", "listen", "accept", "accept4"}},
	{Group: "network", Errno: "EACCES", Syscalls: []string{"socketpair"},
		When: []Condition{{Arg: 0, NotIn: []string{"AF_UNIX"}}}},
	{Group: "network", Errno: "EACCES", Syscalls: []string{"socketpair"}, When: []Condition{
		{Arg: 1, Mask: sockTypeMask, NotIn: []string{"SOCK_STREAM", "SOCK_SEQPACKET"}},
	}},
	{Group: "network", Errno: "EACCES", Syscalls: []string{"sendto"}, When: []Condition{{Arg: 4, NonZero: true}}},
}

// metadata lists the changes that Landlock has no right for.
// See decision D379.
var metadata = []Block{
	{Group: "metadata", Errno: "EPERM", Syscalls: []string{
		"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes",
		"utimensat", "futimesat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr",
		"fremovexattr", "removexattrat", "file_setattr",
	}},
	{Group: "metadata", Errno: "EPERM", Syscalls: []string{"ioctl"}, When: []Condition{
		{Arg: 1, In: metadataRequests},
	}},
}

// links refuses hard links where Landlock checks too little: it requires the right to make a
// file, the policy also read and update.
var links = []Block{{Group: "links", Errno: "EPERM", Syscalls: []string{"link", "linkat"}}}

// truncation closes the calls that ABI 1 and 2 do not mediate.
var truncation = []Block{
	{Group: "truncate", Errno: "EACCES", To: 2, Syscalls: []string{"truncate"}},
	{Group: "truncate", Errno: "EACCES", To: 2, Syscalls: []string{"open"}, When: []Condition{
		{Arg: 1, Mask: accMode, In: []string{"O_RDONLY"}}, {Arg: 1, AnyBit: []string{"O_TRUNC"}},
	}},
	{Group: "truncate", Errno: "EACCES", To: 2, Syscalls: []string{"openat"}, When: []Condition{
		{Arg: 2, Mask: accMode, In: []string{"O_RDONLY"}}, {Arg: 2, AnyBit: []string{"O_TRUNC"}},
	}},
}

// others keeps limits and priorities of other processes unchanged. Landlock has no right for
// changing them; threads have numbers of their own, so that only a supervisor can tell the threads of the tool.
var others = []Block{
	{Group: "others", Errno: "EPERM", Syscalls: []string{
		"prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler",
	}, When: []Condition{{Arg: 0, NonZero: true}}},
	{Group: "others", Errno: "EPERM", Syscalls: []string{"setpriority"},
		When: []Condition{{Arg: 0, NotIn: []string{"PRIO_PROCESS"}}}},
	{Group: "others", Errno: "EPERM", Syscalls: []string{"ioprio_set"},
		When: []Condition{{Arg: 0, NotIn: []string{"IOPRIO_WHO_PROCESS"}}}},
	{Group: "others", Errno: "EPERM", Syscalls: []string{"setpriority", "ioprio_set"},
		When: []Condition{{Arg: 1, NonZero: true}}},
}

// inMemory are calls whose flags are in memory, where a filter cannot see them. Callers
// fall back to openat.
// See decision D48.
var inMemory = []Block{{Group: "openat2", Errno: "ENOSYS", Syscalls: []string{"openat2"}}}

// filter is the blocks that a policy needs beside the blocks of every filter.
func (s *ruleset) filter() []Block {
	out := slices.Concat(sockets, others, inMemory)
	if s.updatesMetadata() {
		out = append(out, setIDModes...)
	} else {
		out = append(out, metadata...)
	}
	if s.refusesLinks() {
		out = append(out, links...)
	}
	return append(out, truncation...)
}

// updatesMetadata reports whether the policy grants update anywhere but in the
// tool's private directories and on the devices of the base.
func (s *ruleset) updatesMetadata() bool {
	granted := slices.ContainsFunc(s.byName(), func(r *ir.FSRule) bool { return r.Caps.Has(ir.Update) })
	s.walk(func(r *ir.Region) {
		switch r.At.Root.Kind {
		case ir.Workspace, ir.External:
			granted = granted || r.Caps.Has(ir.Update)
		case ir.System, ir.Home, ir.Temp:
		}
	})
	return granted
}

// updatesOwn reports whether the policy grants update in the tool's private directories, and nowhere else but on the
// devices of the base. A host without a supervisor refuses the calls there as well.
// See decision D379.
func (s *ruleset) updatesOwn() bool {
	granted := false
	s.walk(func(r *ir.Region) {
		private := r.At.Root.Kind == ir.Home || r.At.Root.Kind == ir.Temp
		granted = granted || private && r.Caps.Has(ir.Update)
	})
	return granted && !s.updatesMetadata()
}

// refusesLinks reports whether some region lets names be made without granting the capabilities
// that a hard link to it needs.
func (s *ruleset) refusesLinks() bool {
	fills := func(r *ir.FSRule) bool { return r.Caps.Has(ir.Create) && !r.Caps.Contains(ir.Caps(ir.Read, ir.Update)) }
	refuse := s.linkable() != 0 || slices.ContainsFunc(s.byName(), fills)
	s.walk(func(r *ir.Region) {
		c := r.Caps
		if c.Has(ir.Create) && !(c.Has(ir.Read) && c.Has(ir.Update)) {
			refuse = true
		}
	})
	return refuse
}

// Network returns the blocks that replace the closed network when its gaps are accepted: TCP
// and UDP over IP, nothing else, and no way around the ports that Landlock opens. The fields are the arguments of
// socket(2) and sendto(2).
func Network() []Block {
	return []Block{
		{Group: "network", Errno: "EACCES", Syscalls: []string{"bind", "listen", "accept", "accept4"}},
		{Group: "network", Errno: "EACCES", Syscalls: []string{"socket"},
			When: []Condition{{Arg: 0, NotIn: []string{"AF_INET", "AF_INET6"}}}},
		{Group: "network", Errno: "EACCES", Syscalls: []string{"socket"}, When: []Condition{
			{Arg: 1, Mask: sockTypeMask, NotIn: []string{"SOCK_STREAM", "SOCK_DGRAM"}},
		}},
		{Group: "network", Errno: "EACCES", Syscalls: []string{"socket"},
			When: []Condition{{Arg: 2, NotIn: []string{"IPPROTO_IP", "IPPROTO_TCP", "IPPROTO_UDP"}}}},
		sockets[1], sockets[2],
	}
}

// CallsVersion is the version of the closed list of system calls that begins every filter.
const CallsVersion = callsVersion

// Apart returns the blocks for a tool without a network whose files are confined by other means than
// Landlock.
func Apart() []Block { return slices.Concat(sockets, others, inMemory, setIDModes, devices) }

// devices are refused as Landlock's right to make them would be. A device with the number 0, a whiteout, takes no
// capability (fs/namei.c, vfs_mknod).
var devices = []Block{
	{Group: "devices", Errno: "EACCES", Syscalls: []string{"mknod"},
		When: []Condition{{Arg: 1, Mask: fileType, In: []string{"S_IFBLK", "S_IFCHR"}}}},
	{Group: "devices", Errno: "EACCES", Syscalls: []string{"mknodat"},
		When: []Condition{{Arg: 2, Mask: fileType, In: []string{"S_IFBLK", "S_IFCHR"}}}},
}

// fileType masks the type in the mode of a file (inode(7)).
const fileType = 0o170000

// CheckFilter refuses blocks that could not be put in force.
func CheckFilter(blocks []Block) error {
	for _, b := range blocks {
		if err := b.check(); err != nil {
			return err
		}
	}
	return nil
}
