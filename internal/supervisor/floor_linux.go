package supervisor

import (
	"path"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
)

// Inode says which file something is.
type Inode struct{ Dev, Ino uint64 }

// Grants are the rights that the ruleset gives by a rule on a file or directory itself.
type Grants map[Inode]uint64

// toStart is what the kernel asks the ruleset for when it opens a program.
var toStart = landlock.FSMask([]landlock.Right{landlock.Execute, landlock.ReadFile})

// floor is which of the rights to start a file the ruleset gives. It is found as the
// kernel finds it: by the rules on the file and on every directory above it. It saves a
// call that would be refused and decides nothing: the kernel asks the ruleset again.
func (c *call) floor(obj int) uint64 {
	where := c.where(obj)
	if where == "" {
		// Files of memory are in a mount that Landlock leaves out (SB_NOUSER).
		return toStart
	}
	at, known := inode(obj)
	rights := c.grants[at]
	dir, err := unix.Open(path.Dir(where), unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
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
