package landlock

import "slices"

// Right is a Landlock access right, named as in the kernel's header without its
// prefix (include/uapi/linux/landlock.h).
type Right string

// The filesystem rights that a specification can grant. Device nodes can never be
// made, so make_char and make_block are handled and never granted.
const (
	Execute     Right = "execute"
	WriteFile   Right = "write_file"
	ReadFile    Right = "read_file"
	ReadDir     Right = "read_dir"
	RemoveDir   Right = "remove_dir"
	RemoveFile  Right = "remove_file"
	MakeChar    Right = "make_char"
	MakeDir     Right = "make_dir"
	MakeReg     Right = "make_reg"
	MakeSock    Right = "make_sock"
	MakeFifo    Right = "make_fifo"
	MakeBlock   Right = "make_block"
	MakeSym     Right = "make_sym"
	Refer       Right = "refer"
	Truncate    Right = "truncate"
	IoctlDev    Right = "ioctl_dev"
	ResolveUnix Right = "resolve_unix"
)

// The network rights and the scopes.
const (
	BindTCP        Right = "bind_tcp"
	ConnectTCP     Right = "connect_tcp"
	BindUDP        Right = "bind_udp"
	ConnectSendUDP Right = "connect_send_udp"

	ScopeAbstractUnix Right = "abstract_unix_socket"
	ScopeSignal       Right = "signal"
)

// bits are the positions of the rights in their masks.
var fsBits = []Right{
	Execute, WriteFile, ReadFile, ReadDir, RemoveDir, RemoveFile, MakeChar, MakeDir, MakeReg, MakeSock, MakeFifo,
	MakeBlock, MakeSym, Refer, Truncate, IoctlDev, ResolveUnix,
}

var netBits = []Right{BindTCP, ConnectTCP, BindUDP, ConnectSendUDP}

var scopeBits = []Right{ScopeAbstractUnix, ScopeSignal}

// Level lists the additions of a Landlock ABI version to the version before it.
type Level struct {
	// ABI is the version, counted from 1.
	ABI int `json:"abi"`
	// FS, Net and Scoped are the rights on files, on TCP ports and between domains.
	FS     []Right `json:"fs,omitempty"`
	Net    []Right `json:"net,omitempty"`
	Scoped []Right `json:"scoped,omitempty"`
}

// MaxABI is the newest ABI version that Levels describes.
const MaxABI = 11

// Levels describes the ABI versions, by the kernel that brought each: 5.13, 5.19,
// 6.2, 6.7, 6.10, 6.12, 6.15, 7.0, 7.1, 7.2, 7.3. Versions 7, 8 and 11 add flags of
// restrict_self and no rights.
func Levels() []Level {
	return []Level{
		{ABI: 1, FS: fsBits[:13]},
		{ABI: 2, FS: []Right{Refer}},
		{ABI: 3, FS: []Right{Truncate}},
		{ABI: 4, Net: []Right{BindTCP, ConnectTCP}},
		{ABI: 5, FS: []Right{IoctlDev}},
		{ABI: 6, Scoped: []Right{ScopeAbstractUnix, ScopeSignal}},
		{ABI: 7},
		{ABI: 8},
		{ABI: 9, FS: []Right{ResolveUnix}},
		{ABI: 10, Net: []Right{BindUDP, ConnectSendUDP}},
		{ABI: MaxABI},
	}
}

// Masks are the handled rights of an ABI version as the kernel takes them.
type Masks struct {
	FS, Net, Scoped uint64 // LANDLOCK_ACCESS_FS_*, LANDLOCK_ACCESS_NET_*, LANDLOCK_SCOPE_*
}

// Handled returns the rights that a loader at the given ABI version handles: all that the
// levels up to it list.
func Handled(levels []Level, abi int) Masks {
	var m Masks
	for _, l := range levels {
		if l.ABI <= abi {
			m.FS |= mask(fsBits, l.FS)
			m.Net |= mask(netBits, l.Net)
			m.Scoped |= mask(scopeBits, l.Scoped)
		}
	}
	return m
}

// FSMask returns the mask of filesystem rights.
func FSMask(rights []Right) uint64 { return mask(fsBits, rights) }

// NetMask returns the mask of network rights.
func NetMask(rights []Right) uint64 { return mask(netBits, rights) }

// FileMask is the rights that a rule on something other than a directory may name
// (landlock_add_rule(2), EINVAL).
var FileMask = mask(fsBits, []Right{Execute, WriteFile, ReadFile, Truncate, IoctlDev, ResolveUnix})

func mask(bits, rights []Right) uint64 {
	var m uint64
	for _, r := range rights {
		if i := slices.Index(bits, r); i >= 0 {
			m |= 1 << i
		}
	}
	return m
}
