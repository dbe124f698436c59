package supervisor

import (
	"path"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
)

// Inode identifies a file.
type Inode struct{ Dev, Ino uint64 }

// Grants are the rights that the ruleset gives by a rule on a file or directory itself.
type Grants map[Inode]uint64

// toStart are the rights that Landlock checks when the kernel opens a program.
var toStart = landlock.FSMask([]landlock.Right{landlock.Execute, landlock.ReadFile})

// lowerBound is the part of toStart that the ruleset grants on a file. It collects the rights as
// the kernel does: from the rules on the file and on every directory above it. The result only
// saves calls that would be refused; the kernel checks the ruleset again.
func (c programs) lowerBound(obj int) uint64 {
	name := where(obj)
	if name == "" {
		// Landlock does not check files of memory: their mount is internal (SB_NOUSER).
		return toStart
	}
	at, known := inode(obj)
	rights := c.grants[at]
	dir, err := unix.Open(path.Dir(name), unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	for known && err == nil && rights&toStart != toStart {
		var above Inode
		if above, known = inode(dir); above == at {
			break // the directory above the root is the root
		}
		at, rights = above, rights|c.grants[above]
		up, next := unix.Openat(dir, "..", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		_ = unix.Close(dir)
		dir, err = up, next
	}
	if err == nil {
		_ = unix.Close(dir)
	}
	return rights & toStart
}

func inode(fd int) (Inode, bool) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return Inode{st.Dev, st.Ino}, err == nil
}
