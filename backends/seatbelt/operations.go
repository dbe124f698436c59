package seatbelt

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// The operations that more than one file uses.
const (
	opReadData    = "file-read-data"
	opMetadata    = "file-read-metadata"
	opClone       = "file-clone"
	opCreate      = "file-write-create"
	opUnlink      = "file-write-unlink"
	opWrite       = "file-write*"
	opSetID       = "file-write-setugid"
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
	// metadata marks changes by an update beside contents.
	metadata bool
	// never marks an operation that no rule grants.
	never bool
}

// leaves are the operations by which the target expresses a filesystem policy. Which system
// call asks for which operation is from github.com/steven-michaud/SandboxMirror, the names are from the operation
// tables in github.com/0xbf00/simbple.
//
// Existence, size, times, mode, link targets and attributes are not protected by a policy; they
// are shown wherever a rule grants anything. A copy by clonefile(2) asks for file-clone only of its source, so that
// goes with read. A rename asks for file-write-create of its target even where it replaces a file, which needs update:
// without update, create is withheld.
//
// The family file-write* stands among its leaves, since setattrlist(2) asks for it, by which
// utimensat(3) sets times. exchangedata(2) asks for it as well and would carry the contents of a
// file without read to a file with read, so the family needs both. See decision D69.
var leaves = []leaf{
	// See decision D69.
	{op: opMetadata},
	{op: "file-read-xattr"},
	{op: opReadData, needs: ir.Caps(ir.Read)},
	{op: opClone, needs: ir.Caps(ir.Read)},
	{op: opWrite, needs: linkable, metadata: true},
	{op: opCreate, needs: creates},
	{op: "file-write-data", needs: ir.Caps(ir.Update)},
	{op: "file-write-mode", needs: ir.Caps(ir.Update), metadata: true},
	{op: "file-write-flags", needs: ir.Caps(ir.Update), metadata: true},
	{op: "file-write-times", needs: ir.Caps(ir.Update), metadata: true},
	{op: "file-write-xattr", needs: ir.Caps(ir.Update), metadata: true},
	{op: "file-write-owner", needs: ir.Caps(ir.Update), metadata: true},
	{op: "file-write-acl", needs: ir.Caps(ir.Update), metadata: true},
	{op: "file-write-finderinfo", needs: ir.Caps(ir.Update), metadata: true},
	{op: opSetID, needs: ir.Caps(ir.Update), metadata: true, never: true},
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

// grant is the form of a region of a policy in the profile.
type grant struct {
	caps ir.CapSet
	// links is true where no hard link to files here escalates.
	links bool
	// listed is true when the policy lists programs: execute by itself starts none.
	listed bool
	// base is true for the base, whose update is of the contents of devices.
	base bool
}

// allows reports whether a region lets an operation through.
func (g grant) allows(l leaf) bool {
	switch {
	case l.never:
		return false
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

// split are the operations that a region allows and those that it denies. Where the family
// file-write* is denied and one of its leaves is allowed, its denial comes first: by the naive
// reading it would take the leaf away.
// See decision D69.
type split struct{ first, allow, deny []string }

// split divides the leaves. A profile has many regions, and few grants.
func (p *profile) split(g grant) split {
	s, known := p.splits[g]
	if !known {
		s = g.split()
		p.splits[g] = s
	}
	return s
}

func (g grant) split() (s split) {
	for _, l := range leaves {
		if g.allows(l) {
			s.allow = append(s.allow, l.op)
		} else {
			s.deny = append(s.deny, l.op)
		}
	}
	writes := func(op string) bool { return strings.HasPrefix(op, "file-write-") }
	if i := slices.Index(s.deny, opWrite); i >= 0 && slices.ContainsFunc(s.allow, writes) {
		s.first, s.deny = []string{opWrite}, slices.Delete(s.deny, i, i+1)
	}
	return s
}

// has reports whether a region lets one operation through, by name.
func (g grant) has(op string) bool {
	return slices.ContainsFunc(leaves, func(l leaf) bool { return l.op == op && g.allows(l) })
}
