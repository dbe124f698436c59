package start_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// attempt is one operation for a worker to try on paths relative to its workspace,
// with the way in which each is spelled.
type attempt struct{ Op, A, B, HowA, HowB string }

// spellings are the ways to name one place. A spelling must lead over the last
// component as the plain path does.
var spellings = []string{"absolute", "relative", "dots", "slashes", "cwd", "root", "descriptor", "magic", "symlink", "thread"}

// name is a path as a system call takes it.
type name struct {
	dir  int
	path string
}

func spell(rel, how string) name {
	ws, _ := os.Getwd()
	abs := filepath.Join(ws, rel)
	switch how {
	case "absolute":
		return name{unix.AT_FDCWD, abs}
	case "dots":
		return name{unix.AT_FDCWD, ws + "/./../" + filepath.Base(ws) + "/" + rel}
	case "slashes":
		return name{unix.AT_FDCWD, strings.ReplaceAll(abs, "/", "//")}
	case "cwd":
		return name{unix.AT_FDCWD, "/proc/self/cwd/" + rel}
	case "root":
		return name{unix.AT_FDCWD, "/proc/self/root" + abs}
	case "thread":
		return name{unix.AT_FDCWD, "/proc/thread-self/cwd/" + rel}
	case "symlink":
		return name{unix.AT_FDCWD, filepath.Dir(ws) + "/link/" + rel}
	case "descriptor", "magic":
		dir, base := filepath.Split(rel)
		fd, err := leave(unix.Open(filepath.Join(ws, dir), unix.O_PATH|unix.O_CLOEXEC, 0))
		if err != nil {
			return name{unix.AT_FDCWD, abs}
		}
		if how == "magic" {
			return name{unix.AT_FDCWD, "/proc/self/fd/" + strconv.Itoa(fd) + "/" + base}
		}
		return name{fd, base}
	default:
		return name{unix.AT_FDCWD, rel}
	}
}

// left are descriptors to close after an attempt.
var left []int

// leave keeps a descriptor for as long as an attempt lasts.
func leave(fd int, err error) (int, error) {
	if err == nil {
		left = append(left, fd)
	}
	return fd, err
}

// last is the attempt before the one that did not come.
var last attempt

// work is the tool of the supervised oracle.
func work(in io.Reader, out io.Writer) {
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var list []attempt
		if err := dec.Decode(&list); err != nil {
			fmt.Fprintln(stderr, "the worker ends:", err, last)
			return
		}
		answers := make([]syscall.Errno, len(list))
		for i, q := range list {
			last = q
			answers[i] = q.run()
		}
		_ = enc.Encode(answers)
	}
}

func (q attempt) run() syscall.Errno {
	a, b := spell(q.A, q.HowA), name{}
	if q.B != "" {
		b = spell(q.B, q.HowB)
	}
	err := attempts[q.Op](a, b)
	for _, fd := range left {
		_ = unix.Close(fd)
	}
	left = left[:0]
	var errno syscall.Errno
	if err != nil && !errors.As(err, &errno) {
		errno = 255
	}
	return errno
}

// exchange hands attempts to a worker and returns its answers.
func (x *tool) exchange(t fataler, list ...attempt) []syscall.Errno {
	data, _ := json.Marshal(list)
	if _, err := x.in.Write(append(data, '\n')); err != nil || !x.out.Scan() {
		x.stop()
		t.Fatalf("the worker is gone: %v; %v\n%s", err, x.cmd.ProcessState, x.errs)
	}
	var out []syscall.Errno
	if err := json.Unmarshal(x.out.Bytes(), &out); err != nil || len(out) != len(list) {
		t.Fatalf("the worker says %q", x.out.Text())
	}
	return out
}

// attempts are the operations by name.
var attempts = map[string]func(a, b name) error{
	"none":       func(_, _ name) error { return nil },
	"read":       opens(unix.O_RDONLY, 0),
	"list":       opens(unix.O_RDONLY|unix.O_DIRECTORY, 0),
	"write":      opens(unix.O_WRONLY, 0),
	"both":       opens(unix.O_RDWR, 0),
	"empty":      opens(unix.O_WRONLY|unix.O_TRUNC, 0),
	"emptyread":  opens(unix.O_RDONLY|unix.O_TRUNC, 0),
	"append":     opens(unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT, 0o644),
	"create":     opens(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o644),
	"createboth": opens(unix.O_RDWR|unix.O_CREAT, 0o644),
	"createread": opens(unix.O_RDONLY|unix.O_CREAT, 0o644),
	"creat":      opens(unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC, 0o644),
	"tmpfile":    opens(unix.O_WRONLY|unix.O_TMPFILE, 0o644),
	"openat2":    func(a, _ name) error { return open2(a, unix.O_RDONLY) },
	"create2":    func(a, _ name) error { return open2(a, unix.O_WRONLY|unix.O_CREAT) },
	"reopen":     reopen(unix.O_RDONLY),
	"rewrite":    reopen(unix.O_WRONLY),
	"truncate":   func(a, _ name) error { return atCwd(a, func(p string) error { return unix.Truncate(p, 0) }) },
	"mkdir":      func(a, _ name) error { return unix.Mkdirat(a.dir, a.path, 0o755) },
	"symlink":    func(a, _ name) error { return unix.Symlinkat("/nowhere", a.dir, a.path) },
	"fifo":       func(a, _ name) error { return unix.Mknodat(a.dir, a.path, unix.S_IFIFO|0o644, 0) },
	"file":       func(a, _ name) error { return unix.Mknodat(a.dir, a.path, unix.S_IFREG|0o644, 0) },
	"device":     func(a, _ name) error { return unix.Mknodat(a.dir, a.path, unix.S_IFCHR|0o644, 1<<8|3) },
	"nodevice":   func(a, _ name) error { return unix.Mknodat(a.dir, a.path, unix.S_IFCHR|0o666, 0) },
	"unlink":     func(a, _ name) error { return unix.Unlinkat(a.dir, a.path, 0) },
	"rmdir":      func(a, _ name) error { return unix.Unlinkat(a.dir, a.path, unix.AT_REMOVEDIR) },
	"rename":     func(a, b name) error { return unix.Renameat(a.dir, a.path, b.dir, b.path) },
	"noreplace":  func(a, b name) error { return unix.Renameat2(a.dir, a.path, b.dir, b.path, unix.RENAME_NOREPLACE) },
	"exchange":   func(a, b name) error { return unix.Renameat2(a.dir, a.path, b.dir, b.path, unix.RENAME_EXCHANGE) },
	"whiteout":   func(a, b name) error { return unix.Renameat2(a.dir, a.path, b.dir, b.path, unix.RENAME_WHITEOUT) },
	"link":       func(a, b name) error { return unix.Linkat(a.dir, a.path, b.dir, b.path, 0) },
	"chmod":      func(a, _ name) error { return unix.Fchmodat(a.dir, a.path, 0o755, 0) },
	"chown":      func(a, _ name) error { return unix.Fchownat(a.dir, a.path, os.Getuid(), -1, 0) },
	"utimes": func(a, _ name) error {
		return unix.UtimesNanoAt(a.dir, a.path, []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0)
	},
	"setxattr": func(a, _ name) error {
		return atCwd(a, func(p string) error { return unix.Setxattr(p, "user.x", []byte("y"), 0) })
	},
	"removexattr": func(a, _ name) error { return atCwd(a, func(p string) error { return unix.Removexattr(p, "user.z") }) },
	"fchmod":      ofReading(func(fd int) error { return unix.Fchmod(fd, 0o755) }),
	"futimens":    ofReading(func(fd int) error { return unix.Futimes(fd, []unix.Timeval{{Sec: 1}, {Sec: 1}}) }),
	"fsetxattr":   ofReading(func(fd int) error { return unix.Fsetxattr(fd, "user.x", []byte("y"), 0) }),
	"flags":       ofReading(func(fd int) error { return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, 0) }),
	"execute":     func(a, _ name) error { return atCwd(a, run) },
	"bind":        func(a, _ name) error { return atCwd(a, bindUnix) },
	"dial":        func(a, _ name) error { return atCwd(a, dialUnix) },
	"tcp":         func(a, _ name) error { return reach(a.path, unix.AF_INET, unix.SOCK_STREAM, 0) },
	"mapped":      func(a, _ name) error { return reach(a.path, unix.AF_INET6, unix.SOCK_STREAM, 0) },
	"mptcp":       func(a, _ name) error { return reach(a.path, unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP) },
	"udp":         func(a, _ name) error { return reach(a.path, unix.AF_INET, unix.SOCK_DGRAM, 0) },
	"throughlink": throughLink,
	"abstract":    func(a, _ name) error { return dialUnix("\x00" + filepath.Base(a.path)) },
}

// mostFiles is how many descriptors a process may have here.
func mostFiles() int {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return int(min(l.Cur, 1<<20))
}

func close2(fd int, err error) error {
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

// throughLink reads the file of a descriptor by its number in a directory that a symlink stands
// for. The supervisor has no numbers that high.
func throughLink(a, b name) error {
	high := min(900, mostFiles()-1)
	fd, err := leave(unix.Openat(a.dir, a.path, unix.O_PATH|unix.O_CLOEXEC, 0))
	if err != nil {
		return err
	}
	if err := unix.Dup3(fd, high, unix.O_CLOEXEC); err != nil {
		return err
	}
	defer unix.Close(high)
	return close2(unix.Open(strings.TrimSuffix(b.path, "/")+"/"+strconv.Itoa(high), unix.O_RDWR|unix.O_CLOEXEC, 0))
}

// open2 opens as programs do where openat2(2) is missing, as it is below ABI 3: its flags lie
// in memory, where no filter sees that they truncate.
func open2(a name, flags int) error {
	fd, err := unix.Openat2(a.dir, a.path, &unix.OpenHow{Flags: uint64(flags), Mode: creating(flags)})
	if err == unix.ENOSYS {
		fd, err = unix.Openat(a.dir, a.path, flags|unix.O_CLOEXEC, 0o600)
	}
	return close2(fd, err)
}

// creating is the mode of an open that may create, which openat2(2) refuses of others.
func creating(flags int) uint64 {
	if flags&unix.O_CREAT == 0 {
		return 0
	}
	return 0o600
}

func opens(flags int, mode uint32) func(a, b name) error {
	return func(a, _ name) error { return close2(unix.Openat(a.dir, a.path, flags|unix.O_CLOEXEC, mode)) }
}

// reopen opens the file of an O_PATH descriptor.
func reopen(flags int) func(a, b name) error {
	return func(a, _ name) error {
		fd, err := leave(unix.Openat(a.dir, a.path, unix.O_PATH|unix.O_CLOEXEC, 0))
		if err != nil {
			return err
		}
		return close2(unix.Open("/proc/self/fd/"+strconv.Itoa(fd), flags|unix.O_CLOEXEC, 0))
	}
}

// ofReading acts on a descriptor that was opened for reading; if that open is refused, the act
// is not tried.
func ofReading(act func(fd int) error) func(a, b name) error {
	return func(a, _ name) error {
		fd, err := leave(unix.Openat(a.dir, a.path, unix.O_RDONLY|unix.O_CLOEXEC, 0))
		if err != nil {
			return errUnread
		}
		return act(fd)
	}
}

const errUnread = syscall.Errno(254)

// atCwd is for calls that take a path and no directory.
func atCwd(a name, act func(string) error) error {
	if a.dir == unix.AT_FDCWD {
		return act(a.path)
	}
	return act("/proc/self/fd/" + strconv.Itoa(a.dir) + "/" + a.path)
}

func unixSocket() (int, error) {
	return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
}

// addressed is a name for a path that fits into a socket's address (unix(7)): a longer one
// begins at its directory. For a longer text the kernel would answer EINVAL before it checks
// any right.
func addressed(path string) (string, error) {
	const most = 107 // sun_path, without its end
	if len(path) <= most {
		return path, nil
	}
	dir, base := filepath.Split(path)
	fd, err := leave(unix.Open(dir, unix.O_PATH|unix.O_CLOEXEC, 0))
	return "/proc/self/fd/" + strconv.Itoa(fd) + "/" + base, err
}

func bindUnix(path string) error {
	fd, err := unixSocket()
	if err != nil {
		return err
	}
	if path, err = addressed(path); err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return err
	}
	return unix.Listen(fd, 1)
}

func dialUnix(path string) error {
	fd, err := unixSocket()
	if err != nil {
		return err
	}
	if path, err = addressed(path); err != nil {
		return err
	}
	return unix.Connect(fd, &unix.SockaddrUnix{Name: path})
}

// reach connects to a port of the loopback address without a listener.
func reach(port string, family, kind, protocol int) error {
	n, _ := strconv.Atoi(filepath.Base(port))
	fd, err := leave(unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol))
	if err != nil {
		return err
	}
	if family == unix.AF_INET6 {
		to := &unix.SockaddrInet6{Port: n}
		copy(to.Addr[10:], []byte{0xff, 0xff, 127, 0, 0, 1})
		return unix.Connect(fd, to)
	}
	return unix.Connect(fd, &unix.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}})
}

func init() {
	for op, do := range map[string]func(a, b name) error{
		"race": race, "storm": storm, "fifos": fifos, "interrupted": interrupted, "numbers": numbers,
		"pid": func(_, _ name) error { return syscall.Errno(os.Getpid()) },
	} {
		attempts[op] = do
	}
}
