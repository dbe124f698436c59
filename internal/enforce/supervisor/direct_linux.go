package supervisor

import (
	"bytes"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/ir"
)

// Most calls that are judged are opens for reading. Where the text of its path says by itself which file is
// meant, it is opened by that text, and the open file is judged by the kernel's name of it: the name must be the text,
// and the policy must grant the text. Everything else is resolved, as any other call is.
// See decision D310.

// plainFlags are the flags of an open that only yields a descriptor for reading.
const plainFlags = unix.O_CLOEXEC | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | largeFile

// opensDirectly answers an open for reading whose path was read into text. It reports false where the call is still to
// be answered.
func (w *worker) opensDirectly(n *notification, text []byte) bool {
	flags := uint64(uint32(n.args[2]))
	if flags&^plainFlags != 0 || !w.direct() {
		return false
	}
	if !w.names.TryRLock() {
		return false // a move is under way, or waits
	}
	fd, e := w.opened(int(n.pid), dirfd(n.args[0]), text, flags)
	w.names.RUnlock()
	switch {
	case e == unix.ENOENT && w.sought == nil:
		w.notes(n, e)
		w.listener.send(n.id, fails(e))
	case e != 0:
		return false
	default:
		w.notes(n, 0)
		points.Reach(points.Answering)
		w.listener.send(n.id, answer{hand: true, fd: fd, closeOn: flags&unix.O_CLOEXEC != 0})
	}
	return true
}

// notes reports a grant of an open that was answered by its text.
func (w *worker) notes(n *notification, e unix.Errno) {
	if w.judged == nil {
		return
	}
	op := ir.Access{Cap: ir.Read, On: w.on}
	d := &denial.Denial{By: denial.ByPolicy, Operation: op, Wants: ir.Caps(ir.Read),
		Verdict: w.policy.view.Decide(op), Roots: w.sandbox.roots, Errno: errnoName(e)}
	d.PID, d.Name = w.callers.of(w.sandbox.procfs, int(n.pid))
	w.judged(d)
}

// direct reports whether an open may be answered before more is known of the call than its path: nothing of it is
// reported, the user grants nothing, and the tool has not restricted itself.
func (s *Supervisor) direct() bool {
	return s.used == nil && s.trace == nil && s.policy.session == nil && (s.domains == nil || !s.domains.used.Load())
}

// unclear is the error of opened where the call has to be resolved.
const unclear = unix.EAGAIN

// opened opens the regular file or directory that a path names by its text, if that is granted; ENOENT says that
// nothing is there.
func (w *worker) opened(tid, dir int, path []byte, flags uint64) (int, unix.Errno) {
	from, within := w.sandbox.root, path[0] != '/'
	if within {
		if from = w.directory(tid, dir); from < 0 {
			return -1, unclear
		}
		defer func() { _, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(from), 0, 0) }()
	}
	name, start, ok := w.named(from, dir == unix.AT_FDCWD, path)
	if !ok {
		return -1, unclear
	}
	text := name[:len(name)-1] // without the zero byte
	w.on = w.sandbox.at(string(text))
	if !w.policy.view.Decide(ir.Access{Cap: ir.Read, On: w.on}).Allowed() {
		return -1, unclear
	}
	points.Reach(points.Acting)
	way := name[start:]
	if len(way) == 1 {
		way = here[:]
	}
	// A fifo that takes the place of the file just now is not waited for.
	open := flags | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	quiet, epoch, e := w.opensQuietly(from, way)
	switch {
	case e == unix.ENOENT && !within:
		open = unix.O_PATH | unix.O_CLOEXEC // over no symlink, which may lead elsewhere for the tool
	case !quiet:
		return -1, unclear // also where nothing is found from a directory, which may have lost its name
	}
	fd, o := openText(from, way, open)
	switch {
	case o == unix.ENOENT && e == unix.ENOENT:
		return -1, unix.ENOENT
	case o != 0:
		return -1, unclear
	case flags&unix.O_NONBLOCK == 0 && e == 0:
		_, _, e = unix.RawSyscall(unix.SYS_FCNTL, uintptr(fd), unix.F_SETFL, 0)
	}
	if e != 0 || !bytes.Equal(w.nameOf(fd, w.link[:]), text) || !standing.until(epoch) {
		_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
		return -1, unclear
	}
	return fd, 0
}

// openText opens a path from a directory, with a zero byte behind it, over no symlink.
func openText(from int, name []byte, flags uint64) (int, unix.Errno) {
	how := unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	fd, _, e := unix.Syscall6(unix.SYS_OPENAT2, uintptr(from), uintptr(unsafe.Pointer(&name[0])),
		uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	return int(fd), e
}

// existsDirectly answers the making of a directory where something is already, as programs ask that make all
// directories above a file. The kernel finds that before it asks who may make the name (filename_create() in
// fs/namei.c). It reports false where the call is still to be answered. See decision D310.
func (w *worker) existsDirectly(n *notification, path []byte) bool {
	if !w.direct() || !w.names.TryRLock() {
		return false
	}
	is := w.exists(path)
	w.names.RUnlock()
	if is {
		w.listener.send(n.id, fails(unix.EEXIST))
	}
	return is
}

// exists reports whether something is at a path from the root without symlinks on its way. It says no where the text
// does not say so by itself.
func (w *worker) exists(path []byte) bool {
	if path[0] != '/' || !tidy(path) {
		return false
	}
	fd, e := openText(w.sandbox.root, append(append(w.name[:0], path...), 0),
		unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if e == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
	}
	return e == 0
}

// named is the path from the root that the text of a path means, with a zero byte behind it, and where the part begins
// that leads there from the directory that it starts from; false where the text does not say so by itself.
func (w *worker) named(from int, working bool, path []byte) (name []byte, start int, ok bool) {
	out := w.name[:0]
	if path[0] != '/' {
		out = w.nameOf(from, w.name[:])
		if len(out) == 0 || out[0] != '/' || bytes.HasSuffix(out, lostName) {
			return nil, 0, false
		}
		for bytes.HasPrefix(path, []byte("./")) {
			path = path[len("./"):]
		}
		if len(path) == 1 && path[0] == '.' && working {
			path = nil
		} else if len(out) > 1 {
			out = append(out, '/')
		}
		start = len(out)
	}
	if len(out)+len(path) >= len(w.name) {
		return nil, 0, false
	}
	out = append(out, path...)
	return append(out, 0), start, tidy(out)
}

// lostName stands behind the name of a file that has lost it.
var lostName = []byte(" (deleted)")

// tidy reports whether a path from the root has no part that means another name, and leads to no file system of
// the kernel's own. Symlinks are not followed, so the directories that are commonly symlinks need not be tried.
func tidy(path []byte) bool {
	if bytes.HasSuffix(path, lostName) {
		return false
	}
	for _, other := range [...]string{"/proc/", "/dev/", "/sys/", "/lib", "/bin/", "/sbin/"} {
		if len(path) >= len(other) && string(path[:len(other)]) == other {
			return false
		}
	}
	for rest := path; len(rest) > 0; {
		rest = rest[1:] // the slash
		end := bytes.IndexByte(rest, '/')
		if end < 0 {
			end = len(rest)
		}
		if part := rest[:end]; len(part) == 0 && len(path) > 1 ||
			len(part) > 0 && part[0] == '.' && (len(part) == 1 || len(part) == 2 && part[1] == '.') {
			return false
		}
		rest = rest[end:]
	}
	return true
}

// opensQuietly reports whether to open the file that a path leads to has no effect and does not wait: a regular file or
// a directory of a file system that has only files.
func (w *worker) opensQuietly(from int, name []byte) (quiet bool, epoch uint64, e unix.Errno) {
	const how = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT | unix.AT_STATX_DONT_SYNC
	st := &w.stat
	epoch = standing.epoch.Load()
	_, _, e = unix.Syscall6(unix.SYS_STATX, uintptr(from), uintptr(unsafe.Pointer(&name[0])), how,
		unix.STATX_TYPE|unix.STATX_MNT_ID, uintptr(unsafe.Pointer(st)), 0)
	if e != 0 {
		return false, epoch, e
	}
	kind, dev := uint32(st.Mode)&unix.S_IFMT, unix.Mkdev(st.Dev_major, st.Dev_minor)
	return (kind == unix.S_IFREG || kind == unix.S_IFDIR) && standing.known(st.Mnt_id, epoch).Quiet &&
		(w.sandbox.shared.name == "" || dev != w.sandbox.shared.dev), epoch, 0
}

// nameOf is the kernel's name of a file, as the function nameOf returns it, empty where there is none.
func (w *worker) nameOf(fd int, into []byte) []byte {
	return w.files.read(descriptors(), fd, into)
}

// directory opens the directory that a path of a thread starts from. Its name would not do: another process may give
// that to another directory before the file is opened.
func (w *worker) directory(tid, dir int) int {
	path := strconv.AppendInt(w.link[:0], int64(tid), 10)
	if dir == unix.AT_FDCWD {
		path = append(path, "/cwd"...)
	} else {
		path = strconv.AppendInt(append(path, "/fd/"...), int64(dir), 10)
	}
	path = append(path, 0)
	const how = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	fd, _, e := unix.Syscall6(unix.SYS_OPENAT, uintptr(w.sandbox.procfs),
		uintptr(unsafe.Pointer(&path[0])), how, 0, 0, 0)
	if e != 0 {
		return -1
	}
	return int(fd)
}

// close closes the links that the worker keeps open.
func (w *worker) close() {
	w.files.close()
	w.callers.close()
}

// links keeps magic links of this process open (O_PATH): to find a link by its path takes longer than to read
// it. See decision D310.
type links struct {
	open map[int]int
	path [32]byte
}

// maxLinksKept bounds the links that are kept.
const maxLinksKept = 4

// read reads the link that a number stands for in a directory.
func (l *links) read(dir, number int, into []byte) []byte {
	fd, known := l.open[number]
	if known {
		if out := readlinkInto(fd, empty[:], into); len(out) > 0 {
			return out
		}
	}
	path := append(strconv.AppendInt(l.path[:0], int64(number), 10), 0)
	how := uintptr(unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC)
	got, _, e := unix.Syscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), how, 0, 0, 0)
	if e != 0 {
		return nil
	}
	if known {
		_ = unix.Close(fd)
	}
	if len(l.open) >= maxLinksKept {
		l.close()
	}
	if l.open == nil {
		l.open = map[int]int{}
	}
	l.open[number] = int(got)
	return readlinkInto(int(got), empty[:], into)
}

func (l *links) close() {
	for _, fd := range l.open {
		_ = unix.Close(fd)
	}
	l.open = nil
}

// empty and here are the paths "" and ".", with a zero byte behind them.
var (
	empty [1]byte
	here  = [2]byte{'.'}
)

func readlinkInto(dir int, path, into []byte) []byte {
	got, _, e := unix.RawSyscall6(unix.SYS_READLINKAT, uintptr(dir), uintptr(unsafe.Pointer(&path[0])),
		uintptr(unsafe.Pointer(&into[0])), uintptr(len(into)), 0, 0)
	if e != 0 {
		return nil
	}
	return into[:got]
}
