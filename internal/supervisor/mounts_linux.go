package supervisor

import (
	"bytes"
	"strconv"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/once"
)

// mounts are those that lie below the root of this process. The kernel names a file of a mount that was taken away by its path in that
// mount alone, and a file that was moved out of a directory that is mounted elsewhere "/" (prepend_path() in fs/d_path.c): such a name says nothing of a place.
// See RATIONALE D352.
type mounts struct {
	mu sync.Mutex
	// list is open on the list of mounts, 0 before it is first read; fresh is true while ids are those of the list.
	list  int
	fresh bool
	ids   map[uint64]bool
}

// standing are the mounts of this process.
var standing mounts

// hold reports whether a mount is one of them. A name that was read before is then that of a place: the kernel announces that mounts
// change before it takes one away (umount_tree() in fs/namespace.c).
func (m *mounts) hold(id uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range maxTries {
		if m.changed(); m.fresh {
			return m.ids[id]
		}
		if !m.read() {
			return false
		}
	}
	return false
}

// changed notes that the list is another one than was read last (poll(2) on mountinfo, proc_pid_mountinfo(5)). The kernel
// says so once, so a read that fails is made up for later.
func (m *mounts) changed() {
	if m.list == 0 {
		return
	}
	fds := []unix.PollFd{{Fd: int32(m.list), Events: unix.POLLPRI}}
	if n, err := unix.Poll(fds, 0); err != nil || n > 0 {
		m.fresh = false
	}
}

// read reads the list. The mount of the root is none of it in a root that is no mount point itself (chroot(2)).
func (m *mounts) read() bool {
	if m.list == 0 {
		fd, err := unix.Open("/proc/thread-self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return false
		}
		m.list = fd
	}
	text, err := m.text()
	root, known := mountOf(unix.AT_FDCWD, "/")
	if err != nil || !known {
		return false
	}
	ids := map[uint64]bool{root: true}
	for line := range bytes.Lines(text) {
		first, _, _ := bytes.Cut(line, []byte(" "))
		id, err := strconv.ParseUint(string(first), 10, 64)
		if err != nil {
			return false
		}
		ids[id] = true
	}
	m.ids, m.fresh = ids, true
	return true
}

// text is the list as it is now. It stays that of the mount namespace, whether or not the thread that opened it has ended.
func (m *mounts) text() ([]byte, error) {
	var out []byte
	part := make([]byte, 4*pathMax) // longer than a line
	for {
		n, err := unix.Pread(m.list, part, int64(len(out)))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return out, err
		}
		out = append(out, part[:n]...)
	}
}

// mountOf is the number of the mount that a file is on.
func mountOf(dir int, path string) (uint64, bool) {
	var st unix.Statx_t
	err := unix.Statx(dir, path, unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, unix.STATX_MNT_ID, &st)
	return st.Mnt_id, err == nil && st.Mask&unix.STATX_MNT_ID != 0
}

// placed reports whether the kernel's name of an open file is that of a place below the root.
func (m *mounts) placed(fd int, name string) bool {
	var st unix.Statx_t
	const how = unix.AT_EMPTY_PATH | unix.AT_STATX_DONT_SYNC
	_, _, e := unix.Syscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(&empty[0])), how, unix.STATX_MNT_ID, uintptr(unsafe.Pointer(&st)), 0)
	if e != 0 || st.Mask&unix.STATX_MNT_ID == 0 || !m.hold(st.Mnt_id) {
		return false
	}
	var root, own unix.Stat_t
	return name != "/" || unix.Stat("/", &root) == nil && unix.Fstat(fd, &own) == nil && root.Dev == own.Dev && root.Ino == own.Ino
}

// ofMemory reports whether a file is one of memory (memfd_create(2)), which are on mounts of the kernel's own: those with large pages on one
// of their kind, and all others on that of any other.
func ofMemory(fd int) bool {
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil {
		return false
	}
	at, known := inode(fd)
	return fs.Type == unix.HUGETLBFS_MAGIC || known && at.Dev == memoryDevice()
}

var memoryOnce once.Value[uint64]

// memoryDevice is the device of files of memory, 0 where none can be made.
func memoryDevice() uint64 {
	return memoryOnce.Get(func() uint64 {
		fd, err := unix.MemfdCreate("", unix.MFD_CLOEXEC)
		if err != nil {
			return 0
		}
		defer unix.Close(fd)
		at, _ := inode(fd)
		return at.Dev
	})
}
