package supervisor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds on copies of programs: the size of a copy, and the number and total size of the copies
// kept so that another start does not copy again.
const (
	maxImage     = 1 << 30
	maxKept      = 64
	maxKeptBytes = 64 << 20
)

// image is a program that was copied into memory.
type image struct {
	// source is the state of the original when it was copied.
	source unix.Stat_t
	// memory identifies the copy, place is the path of the original. The inode numbers of such
	// files have 64 bits and are not used again (shmem_reserve_inode() in mm/shmem.c).
	memory Inode
	place  string
	// fd is the copy, -1 where it is not kept.
	fd   int
	size int64
}

// images are the latest copies, the newest last.
type images struct {
	mu   sync.Mutex
	list []*image
	// join is the list of processes of the tool's cgroup, nil for none.
	join *os.File
	used copies
}

// place is the path of the original of a file of memory, empty for a file that is no copy.
func (m *images) place(fd int) string {
	at, ok := inode(fd)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range m.list {
		if ok && i.memory == at {
			return i.place
		}
	}
	return ""
}

// kept returns another descriptor of the copy of a file that has not changed since.
func (m *images) kept(source *unix.Stat_t) (int, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range slices.Backward(m.list) { // the latest copy of the file
		if i.fd >= 0 && unchanged(source, &i.source) {
			fd, err := unix.FcntlInt(uintptr(i.fd), unix.F_DUPFD_CLOEXEC, 0)
			return fd, err == nil
		}
	}
	return -1, false
}

// add remembers a copy, and keeps it where keep says so.
func (m *images) add(i *image, fd int, keep bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i.fd = -1
	if keep && i.size <= maxKeptBytes/2 {
		i.fd, _ = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	}
	m.list = append(m.list, i)
	if len(m.list) > maxKept {
		m.list[0].drop()
		m.list = m.list[1:]
	}
	var bytes int64
	for n := len(m.list) - 1; n >= 0; n-- {
		if k := m.list[n]; k.fd >= 0 {
			if bytes += k.size; bytes > maxKeptBytes {
				k.drop()
			}
		}
	}
}

func (i *image) drop() {
	if i.fd >= 0 {
		_ = unix.Close(i.fd)
		i.fd = -1
	}
}

func unchanged(a, b *unix.Stat_t) bool {
	return a.Dev == b.Dev && a.Ino == b.Ino && a.Size == b.Size && a.Mtim == b.Mtim && a.Ctim == b.Ctim
}

// settled is how old a change must be so that a later one shows in the times of a file.
const settled = 100 * time.Millisecond

// tellsChanges reports whether the times of a file change with every change of its contents. A mapping that was read
// before is written to without a word of the file's times where the file system has no page_mkwrite, as tmpfs
// (do_shared_fault() and do_wp_page() in mm/memory.c). See decision D57.
func tellsChanges(obj int) bool {
	var fs unix.Statfs_t
	if unix.Fstatfs(obj, &fs) != nil {
		return false
	}
	switch fs.Type {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC:
		return true
	}
	return false
}

// alike reports whether a file has the contents of a copy of some size.
func alike(obj, copy int, size int64) bool {
	from, err := os.Open(self(obj))
	if err != nil {
		return false
	}
	defer from.Close()
	const part = 64 << 10
	a, b := make([]byte, part), make([]byte, part)
	for done := int64(0); done < size; {
		n, err := from.ReadAt(a[:min(part, size-done)], done)
		if err != nil || n == 0 {
			return false
		}
		if m, err := unix.Pread(copy, b[:n], done); err != nil || m != n || !bytes.Equal(a[:n], b[:n]) {
			return false
		}
		done += int64(n)
	}
	return true
}

var errChanged = errors.New("changes while it is read")

// copied returns a copy of a program in memory, sealed against writing.
// See decision D57.
func (c programs) copied(obj int) (int, unix.Errno) {
	var before, after unix.Stat_t
	if err := unix.Fstat(obj, &before); err != nil {
		return -1, errno(err)
	}
	if fd, ok := c.images.kept(&before); ok {
		if c.hold(fd); tellsChanges(obj) || alike(obj, fd, before.Size) {
			return fd, 0
		}
	}
	if before.Size > maxImage {
		c.deny("a new program of more than 1 GiB is not copied to be started")
		return -1, unix.EACCES
	}
	if !c.images.reserves(before.Size) {
		c.deny("the copies of new programs that run take 1 GiB together: " +
			"no further one is started before some of them have ended")
		return -1, unix.EACCES
	}
	begun := time.Now()
	from, err := reopened(obj, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		c.images.used.free(before.Size)
		return -1, unix.EACCES
	}
	defer unix.Close(from)
	place := where(obj)
	fd, err := inMemory(memoryName(place), func(to int) error {
		return c.images.transfer(to, from, before.Size)
	})
	if err == nil && (unix.Fstat(obj, &after) != nil || !unchanged(&before, &after)) {
		_ = unix.Close(fd)
		err = errChanged
	}
	if err != nil {
		c.images.used.free(before.Size)
	} else if err = c.images.used.hold(fd, before.Size); err != nil {
		_ = unix.Close(fd)
		return -1, errno(err)
	}
	switch {
	case errors.Is(err, errChanged):
		return -1, unix.ETXTBSY
	case err == unix.ENOMEM || err == unix.EIO:
		return -1, errno(err)
	case err != nil:
		c.deny("this host starts no files of memory (vm.memfd_noexec)")
		return -1, unix.EACCES
	}
	i := &image{source: before, place: place, size: before.Size}
	i.memory, _ = inode(fd)
	c.images.add(i, fd, begun.Sub(time.Unix(before.Ctim.Unix())) > settled)
	return c.hold(fd), 0
}

// memoryName is the name that /proc/self/exe shows behind "/memfd:". A program that takes the
// directory of that text, as filepath.Dir does, gets the directory of the original.
func memoryName(place string) string {
	if name := "/.." + place; len(name) <= maxMemoryName {
		return name
	}
	return path.Base(place)
}

// maxMemoryName is MFD_NAME_MAX_LEN (mm/memfd.c).
const maxMemoryName = unix.NAME_MAX - len("memfd:")

// transfer copies size bytes. Where the tool has a cgroup, a clone that has joined it copies,
// since memory is charged to the cgroup of the process that first uses it (cgroup v2, memory
// ownership).
func (m *images) transfer(to, from int, size int64) error {
	if m.join != nil {
		return charged(m.join, to, from, size)
	}
	for done := int64(0); done < size; {
		n, err := unix.Sendfile(to, from, nil, int(size-done))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return errChanged
		}
		done += int64(max(n, 0))
	}
	return nil
}

// charged copies size bytes in a process of a cgroup. The process has memory of its own, whose
// owner the kernel charges (get_mem_cgroup_from_mm() in mm/memcontrol.c).
func charged(group *os.File, to, from int, size int64) error {
	p := &program{out: ^uintptr(0)}
	p.add(step{nr: unix.SYS_PRCTL, args: [5]uintptr{unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL)}})
	p.join(group)
	p.add(step{nr: unix.SYS_SENDFILE, args: [5]uintptr{uintptr(to), uintptr(from), 0, uintptr(size)},
		exactly: uintptr(size)})
	p.add(step{nr: unix.SYS_EXIT_GROUP})
	if e := p.clone(0); e != 0 {
		return e
	}
	// The clone has no exit signal, so only a wait for clones finds it.
	var ws unix.WaitStatus
	for {
		if _, err := unix.Wait4(p.pid, &ws, unix.WCLONE, nil); err != unix.EINTR {
			break
		}
	}
	if !ws.Exited() || ws.ExitStatus() != 0 {
		return errChanged
	}
	return nil
}

// mfdExec is MFD_EXEC (Linux 6.3); older kernels start files of memory without it.
const mfdExec = unix.MFD_EXEC

// inMemory makes a file of memory that is filled and sealed, open for reading.
func inMemory(name string, fill func(fd int) error) (int, error) {
	name = name[:min(len(name), maxMemoryName)]
	flags := unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	to, err := unix.MemfdCreate(name, flags|mfdExec)
	if err == unix.EINVAL {
		to, err = unix.MemfdCreate(name, flags)
	}
	if err != nil {
		return -1, err
	}
	defer unix.Close(to)
	if err := fill(to); err != nil {
		return -1, err
	}
	const seals = unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(to), unix.F_ADD_SEALS, seals); err != nil {
		return -1, err
	}
	return reopened(to, unix.O_RDONLY|unix.O_CLOEXEC, 0)
}

// The address of the trampoline in memory, and of its one instruction.
const (
	trampolineBase  = 0x400000
	trampolineHead  = 64 + 2*56 // Elf64_Ehdr and two Elf64_Phdr (elf.h)
	trampolineEntry = trampolineBase + trampolineHead
)

// trampolineImage is a program of one instruction, a system call (elf(5)). A process that
// runs it has memory of its own, in which the supervisor lays out the arguments of a
// script's interpreter, as the kernel would (load_script() in fs/binfmt_script.c).
// See decision D57.
func trampolineImage() []byte {
	le := binary.LittleEndian
	b := []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	half := func(v ...uint16) {
		for _, n := range v {
			b = le.AppendUint16(b, n)
		}
	}
	word := func(v ...uint32) {
		for _, n := range v {
			b = le.AppendUint32(b, n)
		}
	}
	long := func(v ...uint64) {
		for _, n := range v {
			b = le.AppendUint64(b, n)
		}
	}
	const etExec, ptLoad, ptGNUStack, readable, writable, executable, align = 2, 1, 0x6474e551, 4, 2, 1, 0x10000
	size := uint64(trampolineHead + len(trap))
	half(etExec, machine)
	word(1)
	long(trampolineEntry, 64, 0)
	word(0)
	half(64, 56, 2, 0, 0, 0)
	word(ptLoad, readable|executable)
	long(0, trampolineBase, trampolineBase, size, size, align)
	word(ptGNUStack, readable|writable)
	long(0, 0, 0, 0, 0, 16)
	return append(b, trap...)
}

// trampoline is the file of memory with that program.
type trampoline struct {
	once sync.Once
	made bool
	fd   int
	err  error
}

// open returns the file, which is made once.
func (t *trampoline) open() (int, unix.Errno) {
	t.once.Do(func() {
		t.fd, t.err = inMemory("start", func(fd int) error {
			_, err := unix.Write(fd, trampolineImage())
			return err
		})
		t.made = t.err == nil
	})
	if t.err != nil {
		return -1, unix.EACCES
	}
	return t.fd, 0
}
