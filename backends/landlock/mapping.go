package landlock

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/process/once"
	"github.com/accessc/accessc/ir"
)

// names are the capabilities on the names in a directory.
const names = ir.CapSet(1<<ir.Create | 1<<ir.Delete)

// grantable returns the capabilities that the kernel may be given for the capabilities of a region without
// permitting more:
//   - execve(2) opens the image for reading, so execute alone starts nothing;
//   - create and delete together let a rename replace a file, which needs update;
//     without it the kernel is not given create;
//   - where the policy lists programs, execute is granted on their files instead.
func grantable(c ir.CapSet, listed bool) ir.CapSet {
	out := c
	if !c.Has(ir.Read) || listed {
		out = out.Without(ir.Execute)
	}
	if c.Contains(names) && !c.Has(ir.Update) {
		out = out.Without(ir.Create)
	}
	return out
}

// rightsOf returns the rights of capabilities. A move or link between directories needs REFER
// on both (it never lets a file gain a right), so REFER goes with every right that can take part in such a move or
// link. The list is not to be changed.
func rightsOf(c ir.CapSet) []Right { return rightsBySet()[c&ir.All] }

// rightsBySet are the rights of every set of capabilities.
// See decision D330.
func rightsBySet() [][]Right {
	return rightsBySetOnce.Get(func() [][]Right {
		out := make([][]Right, ir.All+1)
		for c := range out {
			out[c] = listRights(ir.CapSet(c))
		}
		return out
	})
}

var rightsBySetOnce once.Value[[][]Right]

func listRights(c ir.CapSet) []Right {
	var out []Right
	add := func(has bool, rs ...Right) {
		if has {
			out = append(out, rs...)
		}
	}
	add(c.Has(ir.Execute), Execute)
	add(c.Has(ir.Read), ReadFile, ReadDir)
	add(c.Has(ir.Update), WriteFile, Truncate)
	add(c.Has(ir.Create), MakeReg, MakeDir, MakeSym, MakeFifo, MakeSock)
	add(c.Has(ir.Delete), RemoveFile, RemoveDir)
	add(c&names != 0 || c.Contains(ir.Caps(ir.Read, ir.Update)), Refer)
	return slices.Clip(out)
}

// access returns the rights of a grant at a place. On the devices of the base those that only
// directories have are left out, and on its terminals the ioctl right is added:
// without it (ABI 5) a program that opens /dev/tty cannot set its modes.
func access(at ir.Location, c ir.CapSet) []Right {
	rs := rightsOf(c)
	if at.Root.Kind != ir.System || !strings.HasPrefix(at.Path, "dev/") {
		return rs
	}
	rs = slices.DeleteFunc(slices.Clone(rs), func(r Right) bool { return FSMask([]Right{r})&FileMask == 0 })
	if slices.Contains(terminals, at.Path) {
		rs = append(rs, IoctlDev)
	}
	return rs
}

var terminals = []string{ir.LinuxTerminal, "dev/ptmx", "dev/pts/ptmx"}
