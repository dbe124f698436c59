package supervisor

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxCopies bounds the size of all copies of programs together that are in use: no limit of the tool counts them,
// unless it has a cgroup.
const maxCopies = 1 << 30

// maxListed is the number of copies from which on each further copy has all of them looked at: each takes a
// descriptor.
const maxListed = 256

// copies are the copies in use: a process runs, maps or has open the copy, or it is kept for further
// starts. See decision D57.
type copies struct {
	mu   sync.Mutex
	list []copyInUse
	size int64
	// most is the bound, 0 for maxCopies.
	most int64
	// looks is set while a look at them is due.
	looks bool
}

// copyInUse has an open file of its own of a copy.
type copyInUse struct {
	fd   int
	size int64
}

// reserves takes up room for a copy if there is any, for which it gives up the copies that are kept for further
// starts.
func (m *images) reserves(size int64) bool {
	if m.used.reserve(size) {
		return true
	}
	m.mu.Lock()
	for _, i := range m.list {
		i.drop()
	}
	m.mu.Unlock()
	return m.used.reserve(size)
}

func (c *copies) reserve(size int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := c.most
	if most == 0 {
		most = maxCopies
	}
	if c.size+size > most || len(c.list) >= maxListed {
		c.prune()
	}
	if c.size+size > most {
		return false
	}
	c.size += size
	return true
}

// free gives back what was reserved for a copy that was not made.
func (c *copies) free(size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size -= size
}

// hold counts a copy, for which there is room, until it is not in use any more.
func (c *copies) hold(fd int, size int64) error {
	own, err := reopened(fd, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.size -= size
		return err
	}
	c.list = append(c.list, copyInUse{own, size})
	c.look()
	return nil
}

// look has the copies looked at in a while: the open files here keep their memory.
func (c *copies) look() {
	const while = time.Second
	if c.looks || len(c.list) == 0 {
		return
	}
	c.looks = true
	time.AfterFunc(while, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.looks = false
		c.prune()
		c.look()
	})
}

// prune lets go of the copies of which no other file is open. A lease for writing is given only on such a
// file, whether it is opened, mapped, started or on its way between processes (fcntl(2),
// check_conflicting_open() in fs/locks.c).
func (c *copies) prune() {
	kept := c.list[:0]
	for _, one := range c.list {
		if _, err := unix.FcntlInt(uintptr(one.fd), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
			kept = append(kept, one)
			continue
		}
		_ = unix.Close(one.fd)
		c.size -= one.size
	}
	c.list = kept
}

// close lets go of all copies.
func (c *copies) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.list {
		_ = unix.Close(one.fd)
	}
	c.list = nil
}
