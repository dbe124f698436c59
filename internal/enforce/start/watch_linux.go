package start

import (
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// watch tells whether a name in some directories, a mount or the root directory has changed. The kernel queues an
// event before the call that makes a change returns (fsnotify_move() and others in include/linux/fsnotify.h,
// touch_mnt_namespace() in fs/namespace.c).
// See decision D305.
type watch struct {
	mu sync.Mutex
	// names has the events of directories, mounts the list of mounts, 0 before the first of them is watched.
	names, mounts int
	failed        bool
	at            identity
	// turns counts the times that something has changed.
	turns uint64
}

// nameEvents are those after which a path may lead elsewhere or nowhere. A name is only given anew after the file
// behind it has lost it, or by a move to it.
const nameEvents = unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF |
	unix.IN_ATTRIB | unix.IN_ONLYDIR

// turn is a number that stays the same while nothing changes, 0 where nothing is watched.
func (w *watch) turn() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.names == 0 {
		return 0
	}
	fds := []unix.PollFd{{Fd: int32(w.names), Events: unix.POLLIN}, {Fd: int32(w.mounts), Events: unix.POLLPRI}}
	n, err := unix.Poll(fds, 0)
	root, ok := identify(unix.AT_FDCWD, "/", noFollow)
	if err != nil || n > 0 || !ok || root != w.at {
		w.drain()
		w.at = root
		w.turns++
	}
	return w.turns
}

// drain takes the events. A comparison that follows sees the changes that they are about.
func (w *watch) drain() {
	buf := make([]byte, 4096)
	for {
		if n, err := unix.Read(w.names, buf); err != unix.EINTR && (err != nil || n <= 0) {
			return
		}
	}
}

// root watches the names in the root directory.
func (w *watch) root() bool { return w.directory("/") }

// add watches the names in an open directory.
func (w *watch) add(fd int) bool { return w.directory("/proc/self/fd/" + strconv.Itoa(fd)) }

func (w *watch) directory(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.open() {
		return false
	}
	_, err := unix.InotifyAddWatch(w.names, path, nameEvents)
	return err == nil
}

// open prepares the watch. Where that fails, such as for want of instances (inotify(7)), it watches nothing.
func (w *watch) open() bool {
	if w.names != 0 || w.failed {
		return !w.failed
	}
	w.failed = true
	names, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return false
	}
	mounts, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		_ = unix.Close(names)
		return false
	}
	w.names, w.mounts, w.turns, w.failed = names, mounts, 1, false
	return true
}

func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.names != 0 {
		_, _ = unix.Close(w.names), unix.Close(w.mounts)
	}
	w.names, w.failed = 0, true
}

// locals are file systems whose names change by calls to this kernel alone.
var locals = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC,
	unix.OVERLAYFS_SUPER_MAGIC, unix.PROC_SUPER_MAGIC,
}

// local reports whether a place is on one of them.
func local(fd int) bool {
	var fs unix.Statfs_t
	return unix.Fstatfs(fd, &fs) == nil && slices.Contains(locals, int64(fs.Type))
}
