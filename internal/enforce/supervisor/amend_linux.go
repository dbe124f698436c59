package supervisor

import (
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/host/gitconfig"
	"github.com/accessc/accessc/internal/process/points"
)

// Git changes its configuration by a new file, config.lock, which it renames to config. The supervisor makes that
// file, and gives the tool a file of memory in its place. At the rename it takes the bytes of that file once, judges
// them, and writes these bytes to the lock, of which the tool has no descriptor.
// See decision D411.

// locks are the lock files that the supervisor has made for the tool, by the file.
type locks struct {
	mu sync.Mutex
	by map[Inode]*lock
}

// lock is a lock file: its directory, the file itself, and the file of memory that the tool writes.
type lock struct{ dir, file, text int }

func (l *lock) close() { closeAll([]int{l.dir, l.file, l.text}) }

const lockName, configName = "config.lock", "config"

// maxLocks bounds the locks of a run: each takes three descriptors.
const maxLocks = 64

// named reports whether a name belongs to a lock that the supervisor has made.
func (l *locks) named(n *node) bool {
	made := l.of(n)
	return made != nil && n.name == lockName && n.tail == "" && same(n.dir, made.dir)
}

// of returns the lock that a file is, nil for any other.
func (l *locks) of(n *node) *lock {
	if n.object < 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.by[Inode{n.st.Dev, n.st.Ino}]
}

func (l *locks) add(file Inode, made *lock) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.by) >= maxLocks {
		return false
	}
	if l.by == nil {
		l.by = map[Inode]*lock{}
	}
	l.by[file] = made
	return true
}

// drop forgets a lock that has lost its name.
func (l *locks) drop(n *node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	file := Inode{n.st.Dev, n.st.Ino}
	if made := l.by[file]; made != nil {
		made.close()
		delete(l.by, file)
	}
}

// clear removes the locks that a tool has left behind.
func (l *locks) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for file, made := range l.by {
		var st unix.Stat_t
		err := unix.Fstatat(made.dir, lockName, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil && (Inode{st.Dev, st.Ino}) == file {
			_ = unix.Unlinkat(made.dir, lockName, 0)
		}
		made.close()
	}
	l.by = nil
}

// locksConfig reports whether an open makes the lock of a configuration that the supervisor judges.
func (c opens) locksConfig(n node, o opening) bool {
	var st unix.Stat_t
	return n.name == lockName && o.Flags&unix.O_EXCL != 0 && o.Flags&accessMode != unix.O_RDONLY && o.Resolve == 0 &&
		c.policy.view.Amends(c.paths.place(n).At) &&
		unix.Fstatat(n.dir, configName, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG
}

// lock makes the lock of a configuration.
func (c opens) lock(n node, o opening) answer {
	if !c.current() {
		return fails(unix.EINTR)
	}
	a := namings(&n)
	a.makes = true
	return c.handed(o.Flags, a, func() (int, error) {
		made := &lock{-1, -1, -1}
		err := c.makeLock(n.dir, made)
		if err != nil {
			made.close()
			return -1, err
		}
		return unix.FcntlInt(uintptr(made.text), unix.F_DUPFD_CLOEXEC, 0)
	})
}

// makeLock makes the file, and keeps it until it is renamed or removed.
func (c opens) makeLock(dir int, made *lock) (err error) {
	if made.text, err = lockText(); err != nil {
		return err
	}
	if made.dir, err = unix.FcntlInt(uintptr(dir), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return err
	}
	const flags = unix.O_RDONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	if made.file, err = unix.Openat(dir, lockName, flags, 0o600); err != nil {
		return err
	}
	var st unix.Stat_t
	if err = unix.Fstat(made.file, &st); err == nil && !c.locked.add(Inode{st.Dev, st.Ino}, made) {
		err = unix.EMFILE
	}
	if err != nil {
		_ = unix.Unlinkat(dir, lockName, 0)
	}
	return err
}

// lockText makes a file of memory, which is no program where the kernel knows that.
func lockText() (int, error) {
	fd, err := unix.MemfdCreate(lockName, unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate(lockName, unix.MFD_CLOEXEC)
	}
	return fd, err
}

// amends reports whether a move puts the lock of a configuration in the place of that.
func (c moves) amends(t two, flags uint64) *lock {
	made := c.locked.of(&t.src)
	if made == nil || flags != 0 || t.src.tail+t.dst.tail != "" || t.src.name != lockName || t.dst.name != configName ||
		t.dst.object < 0 ||
		t.dst.kind() != unix.S_IFREG || !same(t.src.dir, t.dst.dir) || !same(t.src.dir, made.dir) ||
		!c.policy.view.Amends(c.paths.place(t.src).At) {
		return nil
	}
	return made
}

// amend puts a new configuration into effect if it changes nothing but branches. The caller holds the lock on names.
func (c moves) amend(t two, made *lock) answer {
	text := content(made.text)
	old, err := reopened(t.dst.object, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fails(errno(err))
	}
	c.hold(old)
	if err := gitconfig.Amends(content(old), text); err != nil {
		if !c.permits(c.policy.decide(c.moving(t, 0))) {
			c.refused.why = err.Error()
		}
		return fails(unix.EACCES)
	}
	if !c.current() {
		return fails(unix.EINTR)
	}
	points.Reach(points.Acting)
	a := namings(&t.src, &t.dst)
	a.lost = t.dst.object
	return result(c.change(a, func() error {
		if err := c.write(t, text); err != nil {
			return err
		}
		switch err := c.moved(t, 0); err {
		case nil:
			c.locked.drop(&t.src)
			return nil
		case errTaken:
			return unix.EAGAIN
		default:
			return err
		}
	}))
}

// write gives the lock its text, and the mode of the configuration.
func (c moves) write(t two, text []byte) error {
	fd, err := reopened(t.src.object, unix.O_WRONLY|unix.O_TRUNC|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), lockName)
	defer f.Close()
	if err = unix.Fchmod(fd, t.dst.st.Mode&0o777); err == nil {
		_, err = f.Write(text)
	}
	return err
}

// content reads a file from its beginning, up to a byte more than is judged.
func content(fd int) []byte {
	data, err := io.ReadAll(io.NewSectionReader(byOffset(fd), 0, gitconfig.MaxSize+1))
	if err != nil {
		return []byte{0} // which is no configuration
	}
	return data
}

// byOffset reads a descriptor without moving it.
type byOffset int

func (fd byOffset) ReadAt(p []byte, off int64) (int, error) {
	n, err := unix.Pread(int(fd), p, off)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return max(n, 0), err
}
