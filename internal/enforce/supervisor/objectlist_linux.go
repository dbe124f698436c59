package supervisor

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// identity tells an object from a later object that has its number. The kernel gives a number again after 65,536
// others (ipc/util.h, ipcid_seq_max), which may be another process's. An object of a run has no key.
type identity struct {
	key, creator uint32
	// changed is when the object was made or last changed, in seconds. Only the supervisor changes the objects of a
	// run.
	changed int64
}

// state is the kernel's structure for IPC_STAT and IPC_SET (linux/shm.h, asm/sembuf.h, asm-generic/msgbuf.h), which
// begins with struct ipc64_perm (asm-generic/ipcbuf.h).
type state [128]byte

// Offsets in these structures. Semaphores have their times at other places on amd64
// (arch/x86/include/uapi/asm/sembuf.h).
const (
	atOwner, atGroup, atCreator, atMode = 4, 8, 12, 20
	permissions                         = 48
	atQueueSize                         = 88
)

// changedAt is where the structure of a kind has the time of the last change.
func (k *objectKind) changedAt() int {
	switch {
	case k == segments:
		return 72
	case k == semaphores && runtime.GOARCH == "arm64":
		return 56
	}
	return 64
}

// asks makes a request about an object, with a number for its last argument.
func (of object) asks(request, member int, value uintptr) unix.Errno {
	args := [3]uintptr{uintptr(request), value}
	if of.kind == semaphores {
		args = [3]uintptr{uintptr(member), uintptr(request), value}
	}
	_, _, e := unix.Syscall6(of.kind.control, uintptr(of.id), args[0], args[1], args[2], 0, 0)
	return e
}

// asksAt makes a request about an object, with an address for its last argument.
func (of object) asksAt(request int, at unsafe.Pointer) (e unix.Errno) {
	if of.kind == semaphores {
		_, _, e = unix.Syscall6(of.kind.control, uintptr(of.id), 0, uintptr(request), uintptr(at), 0, 0)
	} else {
		_, _, e = unix.Syscall(of.kind.control, uintptr(of.id), uintptr(request), uintptr(at))
	}
	return e
}

// identity looks at an object.
func (of object) identity() (identity, unix.Errno) {
	var buf state
	e := of.asksAt(ipcStat, unsafe.Pointer(&buf))
	return identity{
		binary.LittleEndian.Uint32(buf[:]), binary.LittleEndian.Uint32(buf[atCreator:]),
		int64(binary.LittleEndian.Uint64(buf[of.kind.changedAt():])),
	}, e
}

// most is how many objects of a kind a run has at a time: a quarter of all that the host can have.
func (k *objectKind) most() int {
	var buf state
	if e := (object{k, 0}).asksAt(ipcInfo, unsafe.Pointer(&buf)); e != 0 {
		return 0
	}
	limit := uint64(binary.LittleEndian.Uint32(buf[k.limitAt:]))
	if k == segments {
		limit = binary.LittleEndian.Uint64(buf[k.limitAt:])
	}
	return int(min(limit/4, maxObjects))
}

// objectList is the file that lists the objects of a run for whoever cleans up after it. It lies beside the directory
// of the run, where no tool gets.
// See decision D418.
type objectList struct {
	path string
	file *os.File
	// free are the lines that name no object any more, next is the number of lines.
	free []int
	next int
}

// ListOfObjects is the path of that file of the run that has a directory.
func ListOfObjects(dir string) string { return dir + ".objects" }

// listLine is a line of the list, all of one length: kind, number, creator, time.
const listLine = "%-3s %10d %10d %20d\n"

// add notes an object, and returns the number of its line.
func (l *objectList) add(of object, is identity) (int, error) {
	if l.file == nil {
		const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL | unix.O_NOFOLLOW
		f, err := os.OpenFile(l.path, flags, 0o600)
		if err != nil {
			return 0, err
		}
		l.file = f
	}
	line := l.next
	if n := len(l.free); n > 0 {
		line = l.free[n-1]
	}
	if err := l.write(line, of, is); err != nil {
		return 0, err
	}
	if line == l.next {
		l.next++
	} else {
		l.free = l.free[:len(l.free)-1]
	}
	return line, nil
}

// write has a line say how an object is told from others.
func (l *objectList) write(line int, of object, is identity) error {
	text := fmt.Sprintf(listLine, of.kind.name, of.id, is.creator, is.changed)
	_, err := l.file.WriteAt([]byte(text), int64(line*len(text)))
	return err
}

// drop has a line name no object.
func (l *objectList) drop(line int) {
	if l.write(line, object{noObject, 0}, identity{}) == nil {
		l.free = append(l.free, line)
	}
}

// noObject is in the lines that name none.
var noObject = &objectKind{name: "-"}

// close removes the list.
func (l *objectList) close() {
	if l.file != nil {
		_ = l.file.Close()
		_ = os.Remove(l.path)
		l.file = nil
	}
}

// RemoveObjects removes the objects that a run has left, by its list, and the list. It removes only objects of
// this user that have no key and are as the list says.
func RemoveObjects(dir string) {
	path := ListOfObjects(dir)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return // it made none
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1 ||
		int(st.Uid) != os.Geteuid() ||
		st.Mode&0o022 != 0 {
		return
	}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		of, is, ok := parseObject(lines.Text())
		if !ok || int(is.creator) != os.Geteuid() {
			continue
		}
		if now, e := of.identity(); e == 0 && now == is {
			of.remove()
		}
	}
	_ = os.Remove(path)
}

// parseObject reads a line of the list.
func parseObject(line string) (of object, is identity, ok bool) {
	var name string
	n, _ := fmt.Sscanf(line, "%s %d %d %d", &name, &of.id, &is.creator, &is.changed)
	kinds := []*objectKind{segments, semaphores, messages}
	i := slices.IndexFunc(kinds, func(k *objectKind) bool { return k.name == name })
	if n != 4 || i < 0 {
		return of, is, false
	}
	of.kind = kinds[i]
	return of, is, true
}

// remove removes an object.
func (of object) remove() { of.asks(ipcRemove, 0, 0) }

// set changes the owner, the mode and the size of an object as the caller says. The object stays readable for this
// process, which looks at it before each use.
func (c ipc) set(of object, addr uint64) unix.Errno {
	size := permissions
	if of.kind == messages {
		size = atQueueSize + 8
	}
	from, e := c.bytes(addr, size)
	if e != 0 {
		return e
	}
	var buf state
	copy(buf[atOwner:atCreator], from[atOwner:atCreator])
	mode := binary.LittleEndian.Uint32(from[atMode:]) | readable
	binary.LittleEndian.PutUint32(buf[atMode:], mode)
	copy(buf[atQueueSize:], from[min(atQueueSize, size):])
	return of.asksAt(ipcSet, unsafe.Pointer(&buf))
}

// setAll gives all semaphores of a set the values that the caller says.
func (c ipc) setAll(of object, count, addr uint64) unix.Errno {
	const size = 2
	values, e := c.bytes(addr, int(count)*size)
	if e != 0 {
		return e
	}
	return of.asksAt(semSetAll, unsafe.Pointer(unsafe.SliceData(values)))
}
