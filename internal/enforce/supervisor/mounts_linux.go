package supervisor

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/files/kernelfs"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/process/once"
)

// mounts are the mounts that lie below the root of this process. The kernel names a file of a mount that was taken away
// by its path in that mount only. A file that was moved out of a directory that is mounted elsewhere it names "/"
// (prepend_path() in fs/d_path.c). Such a name says nothing of a place. See decision D362.
type mounts struct {
	mu sync.Mutex
	// list is open on the list of mounts, 0 before it is first read; fresh is true while ids agree with the list.
	list  int
	fresh bool
	ids   map[uint64]kernelfs.Mount
	// roots are the places that policies are about, base the places of their bases; epoch is the number of times that
	// the list was found changed.
	roots, base []string
	// policies are these places by policy.
	policies []*places
	epoch    atomic.Uint64
}

// places are the places of a policy, the workspace first, and the places among them that are closed because they
// show another (kernelfs.Same).
type places struct {
	roots []string
	// temp is the place of temporary files, which shows no other: it was made where no tool comes (decision
	// D183).
	temp string
	same atomic.Pointer[[]kernelfs.Mount]
}

// shut reports whether a path is in a place that shows another.
func (p *places) shut(path string) bool {
	if p == nil {
		return false
	}
	same := p.same.Load()
	return same != nil && kernelfs.Nearest(*same, p.roots, path) != nil
}

// about has a policy's places count (kernelfs.Parse).
func (m *mounts) about(roots, base []string, temp string) *places {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.policies {
		if slices.Equal(p.roots, roots) {
			return p
		}
	}
	p := &places{roots: roots, temp: temp}
	m.policies = append(m.policies, p)
	m.fresh = false
	m.epoch.Add(1)
	m.roots, m.base = union(m.roots, roots), union(m.base, base)
	return p
}

// union adds to a list the places that it lacks.
func union(all, more []string) []string {
	for _, s := range more {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// standing are the mounts of this process.
var standing mounts

// hold returns a mount if it is one of them. A name that was read before is then the name of a place: the kernel
// announces that mounts change before it takes a mount away (umount_tree() in fs/namespace.c).
func (m *mounts) hold(id uint64) (of kernelfs.Mount, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range maxTries {
		if m.changed(); m.fresh {
			of, held = m.ids[id]
			return of, held
		}
		if !m.read() {
			return of, false
		}
	}
	return of, false
}

// known is a mount as it was when the list was last read, none where that was in another epoch.
func (m *mounts) known(id, epoch uint64) (of kernelfs.Mount) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.epoch.Load() == epoch {
		of = m.ids[id]
	}
	return of
}

// until reports whether the list has been the same since an epoch: a file that was found by a path since is on the
// mount that was known then. The kernel announces a new mount before a path leads to it (commit_tree() in
// fs/namespace.c).
func (m *mounts) until(epoch uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed()
	return m.fresh && m.epoch.Load() == epoch
}

// closed lists the places of closed mounts, where the epoch has changed.
func (m *mounts) closed(since uint64) (points []string, epoch uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range maxTries {
		if m.changed(); m.fresh || !m.read() {
			break
		}
	}
	if m.fresh && m.epoch.Load() == since {
		return nil, since
	}
	for _, of := range m.ids {
		if of.Closed {
			points = append(points, of.Point)
		}
	}
	for _, p := range m.policies {
		if same := p.same.Load(); same != nil {
			for i := range *same {
				points = append(points, (*same)[i].Point)
			}
		}
	}
	if !m.fresh {
		points = append(points, "/") // it cannot be read
	}
	return points, m.epoch.Load()
}

// changed notes that the list is not the list that was read last (poll(2) on mountinfo, proc_pid_mountinfo(5)). The
// kernel says so once, so a read that fails is made up for later.
func (m *mounts) changed() {
	if m.list == 0 {
		return
	}
	fds, none := unix.PollFd{Fd: int32(m.list), Events: unix.POLLPRI}, unix.Timespec{}
	n, _, e := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fds)), 1,
		uintptr(unsafe.Pointer(&none)), 0, 0, 0)
	if e != 0 || n > 0 {
		m.fresh = false
		m.epoch.Add(1)
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
	all, err := kernelfs.Parse(text, m.roots, m.base, hostview.Link)
	if err != nil {
		return false
	}
	for _, p := range m.policies {
		roots := slices.DeleteFunc(slices.Clone(p.roots), func(r string) bool { return r == p.temp })
		same := kernelfs.Same(all, roots, nil, hostview.Link)
		p.same.Store(&same)
		for i := range same {
			unquiet(all, same[i].Point)
		}
	}
	ids := map[uint64]kernelfs.Mount{root: {ID: root, Point: "/"}}
	for _, of := range all {
		ids[of.ID] = of
	}
	m.ids, m.fresh = ids, true
	return true
}

// unquiet has every open of a file below a place looked at by its name.
func unquiet(all []kernelfs.Mount, place string) {
	if m := kernelfs.At(all, place); m != nil {
		m.Quiet = false
	}
	for i := range all {
		all[i].Quiet = all[i].Quiet && !kernelfs.Below(all[i].Point, place)
	}
}

// text is the list as it is now. It stays the list of the mount namespace, whether or not the thread that opened it has
// ended.
func (m *mounts) text() ([]byte, error) {
	const part = 4 * pathMax // longer than a line
	out := make([]byte, 0, 2*part)
	for {
		out = slices.Grow(out, part)
		n, err := unix.Pread(m.list, out[len(out):len(out)+part], int64(len(out)))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return out, err
		}
		out = out[:len(out)+n]
	}
}

// mountOf is the number of the mount that a file is on.
func mountOf(dir int, path string) (uint64, bool) {
	var st unix.Statx_t
	err := unix.Statx(dir, path, unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT,
		unix.STATX_MNT_ID, &st)
	return st.Mnt_id, err == nil && st.Mask&unix.STATX_MNT_ID != 0
}

// place is where the file behind a descriptor is by the kernel's name of it: that name, nowhere if it names no place
// below the root, a place below inKernel if the kernel shows itself there, and below inAlias if a mount shows another
// place.
func (m *mounts) place(fd int, name string) string {
	var st unix.Statx_t
	const how = unix.AT_EMPTY_PATH | unix.AT_STATX_DONT_SYNC
	_, _, e := unix.Syscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(&empty[0])), how, unix.STATX_MNT_ID,
		uintptr(unsafe.Pointer(&st)), 0)
	if e != 0 || st.Mask&unix.STATX_MNT_ID == 0 {
		return nowhere
	}
	of, held := m.hold(st.Mnt_id)
	closed := inKernel
	if of.Alias {
		closed = inAlias
	}
	var root, own unix.Stat_t
	switch {
	case !held:
		return nowhere
	case of.Closed:
		return closed + name
	case name == "/" && (unix.Stat("/", &root) != nil || unix.Fstat(fd, &own) != nil || root.Dev != own.Dev ||
		root.Ino != own.Ino):
		return nowhere
	}
	return name
}

// ofMemory reports whether a file is a file of memory (memfd_create(2)). Such files are on mounts of the kernel's own:
// files with large pages on a mount of their kind, and all others on the mount of any other.
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
