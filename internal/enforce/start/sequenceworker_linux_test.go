package start_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// partSequence is the tool of the sequences.
const partSequence = "kernel-sequence"

// The contents of regular files.
const (
	holdsImage  = "image"
	holdsScript = "script"
)

// contents are the bytes of each. An image may have a number.
func contents(holds string) []byte {
	number, numbered := strings.CutPrefix(holds, holdsImage)
	switch {
	case numbered:
		status, _ := strconv.Atoi(number)
		return image(byte(status))
	case holds == holdsScript:
		return []byte(script)
	}
	return nil
}

// imageOf names the contents of a program that ends with a status.
func imageOf(status int) string { return holdsImage + strconv.Itoa(status) }

// image is the smallest program that ends with a status: a header, one segment and a call
// of exit(2) (elf(5)).
func image(status byte) []byte {
	code := []byte{0xbf, status, 0, 0, 0, 0xb8, unix.SYS_EXIT, 0, 0, 0, 0x0f, 0x05} // mov edi; mov eax; syscall
	machine := byte(unix.EM_X86_64)
	if runtime.GOARCH == "arm64" {
		machine = unix.EM_AARCH64
		// movz x0, status; movz x8, 93; svc 0
		code = []byte{status << 5, status >> 3, 0x80, 0xd2, 0xa8, 0x0b, 0x80, 0xd2, 1, 0, 0, 0xd4}
	}
	const base, header = 0x400000, 64 + 56
	b := make([]byte, header)
	copy(b, "\x7fELF\x02\x01\x01")
	word := func(at, size int, v uint64) {
		for i := range size {
			b[at+i] = byte(v >> (8 * i))
		}
	}
	for _, f := range [][3]int{
		{16, 2, 2}, {18, 2, int(machine)}, {20, 4, 1}, {24, 8, base + header}, {32, 8, 64}, {52, 2, 64}, {54, 2, 56}, {56, 2, 1},
		{64, 4, 1}, {68, 4, 5}, {80, 8, base}, {88, 8, base}, {96, 8, header + len(code)}, {104, 8, header + len(code)}, {112, 8, 4096},
	} {
		word(f[0], f[1], uint64(f[2]))
	}
	return append(b, code...)
}

// request is a batch for the tool: steps for one of its threads.
type request struct {
	Thread int
	Steps  []step
	// Race is lists for further threads, each of its own.
	Race [][]step `json:",omitempty"`
	// Paced is set where another process changes names during a race, and wants a line each time that a share of the
	// operations is done.
	Paced bool `json:",omitempty"`
}

// reply is the answers, up to the first that was not expected.
type reply struct {
	Answers []syscall.Errno
	// Times are the times of the steps of a race, Race the answers to its lists.
	Times []span    `json:",omitempty"`
	Race  [][]raced `json:",omitempty"`
}

// sequenceWorker is the tool, with the state that it keeps between steps.
type sequenceWorker struct {
	root  string
	slots [nslots]int
	out   io.Writer
}

// workSequences answers requests, each on the thread that it names.
func workSequences(in io.Reader, out io.Writer) {
	root, _ := os.Getwd()
	w := &sequenceWorker{root: root, out: out}
	for i := range w.slots {
		w.slots[i] = -1
	}
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	var threads [8]chan func()
	for {
		var q request
		if dec.Decode(&q) != nil {
			return
		}
		if threads[q.Thread] == nil {
			threads[q.Thread] = thread()
		}
		var r reply
		ended := make(chan struct{})
		threads[q.Thread] <- func() {
			if q.Race != nil {
				r = w.race(&q)
			} else {
				r.Answers = w.steps(q.Steps)
			}
			close(ended)
		}
		<-ended
		_ = enc.Encode(r)
	}
}

// thread is one that runs the functions that it is given.
func thread() chan func() {
	do := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range do {
			f()
		}
	}()
	return do
}

func (w *sequenceWorker) steps(list []step) []syscall.Errno {
	out := make([]syscall.Errno, 0, len(list))
	for _, q := range list {
		e := w.do(q)
		out = append(out, e)
		if (e == 0) != q.Done {
			break
		}
	}
	return out
}

// spelled is the name of a spot as system calls take it, and a descriptor to close after it.
func (w *sequenceWorker) spelled(s spot) (name, int, error) {
	abs := w.root + "/" + s.Rest
	fd := strconv.Itoa(w.slots[s.Slot])
	cwd := func(path string) (name, int, error) { return name{unix.AT_FDCWD, path}, -1, nil }
	slash := func(path string) string {
		if s.Rest == "" {
			return path
		}
		return path + "/" + s.Rest
	}
	switch s.How {
	case "dots":
		return cwd(w.root + "/./../" + filepath.Base(w.root) + "/" + s.Rest)
	case "slashes":
		return cwd(strings.ReplaceAll(abs, "/", "//"))
	case "root":
		return cwd("/proc/self/root" + abs)
	case "symlink":
		return cwd(filepath.Dir(w.root) + "/link/" + s.Rest)
	case "opened":
		dir, last := splitPath(s.Rest)
		fd, err := unix.Open(w.root+"/"+dir, unix.O_PATH|unix.O_CLOEXEC, 0)
		return name{fd, last}, fd, err
	case "relative":
		if s.Rest == "" {
			return cwd(".")
		}
		return cwd(s.Rest)
	case "here":
		return cwd("./" + s.Rest)
	case "cwd":
		return cwd(slash("/proc/self/cwd"))
	case "thread":
		return cwd(slash("/proc/thread-self/cwd"))
	case "descriptor":
		if s.Rest == "" {
			if _, err := os.Lstat("/dev/fd"); err != nil {
				return cwd("/proc/self/fd/" + fd) // a small system has no such symlink
			}
			return cwd("/dev/fd/" + fd)
		}
		return name{w.slots[s.Slot], s.Rest}, -1, nil
	case "magic":
		return cwd(slash("/proc/self/fd/" + fd))
	case "process":
		return cwd(slash("/proc/" + strconv.Itoa(os.Getpid()) + "/fd/" + fd))
	case emptyPath:
		return name{w.slots[s.Slot], ""}, -1, nil
	default:
		return cwd(abs)
	}
}

// do makes one step.
func (w *sequenceWorker) do(q step) syscall.Errno {
	a, tmp, err := w.spelled(q.A)
	if tmp >= 0 {
		defer unix.Close(tmp)
	}
	if err != nil {
		return number(err)
	}
	var b name
	if q.B.How != "" {
		if b, tmp, err = w.spelled(q.B); err != nil {
			return number(err)
		}
		if tmp >= 0 {
			defer unix.Close(tmp)
		}
	}
	return number(w.call(q, a, b))
}

func number(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	if e, ok := err.(syscall.Errno); ok {
		return e
	}
	return 255
}

func (w *sequenceWorker) keep(i, fd int) {
	if w.slots[i] >= 0 {
		_ = unix.Close(w.slots[i])
	}
	w.slots[i] = fd
}

func (w *sequenceWorker) call(q step, a, b name) error {
	if flags, ok := openings[q.Op]; ok {
		return w.open(q, a, flags)
	}
	empty := 0
	if q.A.How == emptyPath {
		empty = unix.AT_EMPTY_PATH
	}
	times := []unix.Timespec{{Sec: 1}, {Sec: 1}}
	slot := w.slots[q.A.Slot]
	switch q.Op {
	case "hold", "holdlink":
		flags := map[string]int{"hold": 0, "holdlink": unix.O_NOFOLLOW}[q.Op]
		fd, err := unix.Openat(a.dir, a.path, unix.O_PATH|unix.O_CLOEXEC|flags, 0)
		if err == nil {
			w.keep(q.B.Slot, fd)
		}
		return err
	case "close":
		w.keep(q.A.Slot, -1)
		return nil
	case "chdir":
		return atCwd(a, unix.Chdir)
	case "stat", "lstat":
		var st unix.Stat_t
		return unix.Fstatat(a.dir, a.path, &st, map[string]int{"stat": 0, "lstat": unix.AT_SYMLINK_NOFOLLOW}[q.Op]|empty)
	case "truncate":
		return atCwd(a, func(p string) error { return unix.Truncate(p, 0) })
	case "chmod":
		err := unix.Fchmodat(a.dir, a.path, 0o755, empty)
		if err == unix.EOPNOTSUPP && empty != 0 {
			err = atCwd(a, func(p string) error { return unix.Chmod(p, 0o755) }) // before Linux 6.6
		}
		return err
	case "chown":
		return unix.Fchownat(a.dir, a.path, os.Getuid(), -1, empty)
	case "utimes":
		return utimes(a, times, empty)
	case "lutimes":
		return utimes(a, times, unix.AT_SYMLINK_NOFOLLOW)
	case "setxattr":
		return atCwd(a, func(p string) error { return unix.Setxattr(p, "user.x", []byte("y"), 0) })
	case "removexattr":
		return atCwd(a, func(p string) error { return unix.Removexattr(p, "user.z") })
	case "fchmod":
		return unix.Fchmod(slot, 0o755)
	case "futimens":
		return unix.Futimes(slot, []unix.Timeval{{Sec: 1}, {Sec: 1}})
	case "fsetxattr":
		return unix.Fsetxattr(slot, "user.x", []byte("y"), 0)
	}
	return w.change(q, a, b)
}

// utimes is utimensat(2), which the library does not call with an empty path.
func utimes(a name, times []unix.Timespec, flags int) error {
	p, err := unix.BytePtrFromString(a.path)
	if err != nil {
		return err
	}
	_, _, e := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(a.dir), uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&times[0])), uintptr(flags), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// open opens, and fills an empty file that it might have made.
func (w *sequenceWorker) open(q step, a name, flags int) error {
	fd, err := w.opened(q, a, flags)
	if err != nil {
		return err
	}
	if q.Op == "holdread" {
		w.keep(q.B.Slot, fd)
		return nil
	}
	if q.Text != "" && flags&unix.O_ACCMODE != unix.O_RDONLY && flags&unix.O_CREAT != 0 {
		var st unix.Stat_t
		if err = unix.Fstat(fd, &st); err == nil && st.Size == 0 && st.Mode&unix.S_IFMT == unix.S_IFREG {
			_, err = unix.Write(fd, contents(q.Text))
		}
	}
	_ = unix.Close(fd)
	return err
}

func (w *sequenceWorker) opened(q step, a name, flags int) (int, error) {
	flags |= unix.O_CLOEXEC | unix.O_NONBLOCK
	resolve, limited := restricted[q.Op]
	if !limited && !strings.HasPrefix(q.Op, "openat2") {
		return unix.Openat(a.dir, a.path, flags, 0o755)
	}
	how := unix.OpenHow{Flags: uint64(flags), Resolve: resolve}
	if flags&unix.O_CREAT != 0 {
		how.Mode = 0o755
	}
	fd, err := unix.Openat2(a.dir, a.path, &how)
	if err == unix.ENOSYS && !limited {
		return unix.Openat(a.dir, a.path, flags, 0o755) // as programs do
	}
	return fd, err
}

// change makes, removes, moves and links names, and starts programs.
func (w *sequenceWorker) change(q step, a, b name) error {
	switch q.Op {
	case "mkdir":
		return unix.Mkdirat(a.dir, a.path, 0o755)
	case "file":
		return unix.Mknodat(a.dir, a.path, unix.S_IFREG|0o755, 0)
	case "fifo":
		return unix.Mknodat(a.dir, a.path, unix.S_IFIFO|0o755, 0)
	case "symlink":
		return unix.Symlinkat(q.Text, a.dir, a.path)
	case "unlink":
		return unix.Unlinkat(a.dir, a.path, 0)
	case "rmdir":
		return unix.Unlinkat(a.dir, a.path, unix.AT_REMOVEDIR)
	case "rename":
		return unix.Renameat(a.dir, a.path, b.dir, b.path)
	case "noreplace":
		return unix.Renameat2(a.dir, a.path, b.dir, b.path, unix.RENAME_NOREPLACE)
	case "exchange":
		return unix.Renameat2(a.dir, a.path, b.dir, b.path, unix.RENAME_EXCHANGE)
	case "link":
		return unix.Linkat(a.dir, a.path, b.dir, b.path, 0)
	case "linkfollow":
		return unix.Linkat(a.dir, a.path, b.dir, b.path, unix.AT_SYMLINK_FOLLOW)
	case "linkempty":
		return unix.Linkat(a.dir, "", b.dir, b.path, unix.AT_EMPTY_PATH)
	case "start":
		return startPath(a, q)
	case "startat":
		_, err := startAt(a, q)
		return err
	}
	return syscall.ENOSYS
}

// startPath starts by execve(2).
func startPath(a name, q step) error { return startFile(startable(a), name{path: q.Text}) }

// argv is the arguments of a start.
func argv(q step) []string { return strings.Split(q.Text, " ") }

// startAt starts by execveat(2), and returns the status that the program ends with. The other
// end of a pipe reports a failed start. It returns ESRCH for a killed program.
func startAt(a name, q step) (int, error) {
	path, err := unix.BytePtrFromString(a.path)
	if err != nil {
		return 0, err
	}
	args, err := syscall.SlicePtrFromStrings(argv(q))
	if err != nil {
		return 0, err
	}
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return 0, err
	}
	defer unix.Close(p[0])
	flags := 0
	if a.path == "" {
		flags = unix.AT_EMPTY_PATH
	}
	env := []*byte{nil}
	// The child closes its copy of the end to write to by becoming a program.
	syscall.ForkLock.Lock()
	pid, e := forkExecveat(a.dir, path, &args[0], &env[0], flags, p[1])
	syscall.ForkLock.Unlock()
	_ = unix.Close(p[1])
	if e != 0 {
		return 0, e
	}
	var said [1]byte
	n, _ := unix.Read(p[0], said[:])
	var ws unix.WaitStatus
	for {
		if _, err = unix.Wait4(int(pid), &ws, 0, nil); err != unix.EINTR {
			break
		}
	}
	switch {
	case n == 1:
		return 0, syscall.Errno(said[0])
	case err == nil && ws.Signaled():
		return 0, syscall.ESRCH
	}
	return ws.ExitStatus(), err
}

// forkExecveat forks a child that becomes a program, or writes the error number to a
// descriptor. The child has a copy of the memory and one thread: it makes system calls alone.
//
//go:norace
//go:nosplit
func forkExecveat(dir int, path *byte, argv, env **byte, flags, out int) (uintptr, syscall.Errno) {
	pid, _, e := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if e != 0 || pid != 0 {
		return pid, e
	}
	_, _, e = syscall.RawSyscall6(unix.SYS_EXECVEAT, uintptr(dir), uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(argv)),
		uintptr(unsafe.Pointer(env)), uintptr(flags), 0)
	code := byte(e)
	_, _, _ = syscall.RawSyscall(unix.SYS_WRITE, uintptr(out), uintptr(unsafe.Pointer(&code)), 1)
	for {
		_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
}
