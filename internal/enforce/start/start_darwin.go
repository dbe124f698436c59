package start

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
)

// Spec is the specification that is applied on this system.
type Spec = start.Spec

// Artifact is the name of the file that holds a specification.
const Artifact = "seatbelt.sb"

// lastLevel is the only feature level.
const lastLevel = 0

// Parse reads a specification.
func Parse(data []byte) (*Spec, error) { return start.Parse(data) }

// Proxied reports whether a start of the specification needs the egress proxy.
func Proxied(s *Spec) bool { return s.Egress != nil }

// Unmet returns the gaps of a host under a specification, one entry per name.
func Unmet(s *Spec, h Host) ([]Gap, error) { return byProfile.unmet(s.Needs, h) }

// ABI returns the Landlock ABI version of this kernel: there is none.
func ABI() int { return 0 }

// ThisHost describes this system: beside its own sandbox it has no means.
func ThisHost() Host { return Host{} }

// Confines reports whether tools are started here at all.
func (Host) Confines() bool { return Examine().Confines }

// Start applies the sandbox and becomes the tool. It returns only when the tool did not
// start; the error is an *Error.
func Start(req Request) error { return req.Advised(startProfile(&req, req.Spec, darwin{})) }

// darwin is the running system.
type darwin struct{}

func (darwin) run(argv, env []string) (ended, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	var said bytes.Buffer
	cmd.Env, cmd.Stderr = env, &said
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	if err != nil {
		return ended{}, err
	}
	return endOf(cmd.ProcessState, said.String()), nil
}

// userDirectories asks getconf(1), since confstr(3) is a function of the C library.
func (darwin) userDirectories() ([]string, error) {
	var out []string
	for _, name := range []string{"DARWIN_USER_TEMP_DIR", "DARWIN_USER_CACHE_DIR"} {
		said, err := exec.Command("/usr/bin/getconf", name).Output()
		if err != nil {
			return nil, fmt.Errorf("getconf %s: %w", name, err)
		}
		dir, err := filepath.EvalSymlinks(strings.TrimSpace(string(said)))
		if err != nil {
			return nil, err
		}
		out = append(out, dir)
	}
	return out, nil
}

func (darwin) processes() (int, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	return len(list), err
}

// getPath is F_GETPATH of fcntl(2), which golang.org/x/sys does not name.
const getPath = 50

func (darwin) spelling(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	var buf [unix.PathMax]byte
	if _, _, e := syscall.Syscall(unix.SYS_FCNTL, uintptr(fd), getPath, uintptr(unsafe.Pointer(&buf[0]))); e != 0 {
		return "", e
	}
	return start.FirstName(unix.ByteSliceToString(buf[:])), nil
}

// descriptors refuses standard ones that would reach the network under any profile: a datagram
// socket can send without connecting.
func (darwin) descriptors() error {
	for fd := range keptOpen {
		kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
		if err != nil {
			continue
		}
		waits, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
		if kind != unix.SOCK_STREAM || waits != 0 {
			return fmt.Errorf("descriptor %d is a socket that reaches beyond its peer; connect it to a pipe or file", fd)
		}
	}
	return closeOthers()
}

// limit sets the limits that setrlimit(2) of macOS enforces. The others are needs that were
// accepted.
func (darwin) limit(limits []backends.Limit) error {
	for _, l := range limits {
		resource, value := 0, l.Value
		switch l.Kind {
		case ir.LimitProcesses.String():
			resource = unix.RLIMIT_NPROC
		case ir.LimitCPUTime.String():
			resource, value = unix.RLIMIT_CPU, (l.Value+999)/1000
		case ir.LimitOpenFiles.String():
			resource = unix.RLIMIT_NOFILE
		case ir.LimitFileSize.String():
			resource = unix.RLIMIT_FSIZE
		case ir.LimitMemory.String(), ir.LimitWallTime.String():
			continue
		default:
			return errors.New("unknown limit " + l.Kind)
		}
		var have unix.Rlimit
		if err := unix.Getrlimit(resource, &have); err != nil {
			return err
		}
		value = min(value, have.Max)
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return err
		}
	}
	return nil
}

func (darwin) become(file string, argv, env []string) error { return syscall.Exec(file, argv, env) }

// SweepCommand is the hidden command that removes the directory of a run.
const SweepCommand = "__sweep"

// The words behind the directory: have another process wait for one, or wait for it.
const (
	sweepApart = "apart"
	sweepAfter = "after"
)

// sweepAfter leaves a process behind that waits until this one, the tool by then, is gone. It
// is started by another one that ends at once, so that it is no child of the tool, whose
// wait(2) would see it. Both inherit the files and do nothing with them.
func (darwin) sweepAfter(dir string, holds []*os.File) error {
	cmd := sweeper(dir, sweepApart, strconv.Itoa(os.Getpid()))
	cmd.ExtraFiles = holds
	return cmd.Run()
}

func (darwin) egress(p *proxied, environ []string) (egressEnd, error) {
	self, err := os.Executable()
	if err != nil {
		return egressEnd{}, err
	}
	return startByToken(self, p, environ)
}

func sweeper(dir string, words ...string) *exec.Cmd {
	self, err := os.Executable()
	cmd := exec.Command(self, slices.Concat(Self, []string{SweepCommand, dir}, words)...)
	cmd.Err = err
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// Sweep removes the directory of a run that has ended, or waits for that first.
func Sweep(dir string, words ...string) error {
	if !isRun(dir) {
		return fmt.Errorf("%s is not the directory of a run", dir)
	}
	if len(words) == 2 {
		pid, err := strconv.Atoi(words[1])
		if err != nil {
			return err
		}
		if words[0] == sweepApart {
			return sweeper(dir, sweepAfter, words[1]).Start()
		}
		if err := gone(pid); err != nil {
			return err
		}
	}
	return removeRun(dir)
}

// gone waits for a process to end (kqueue(2)). It returns at once for one that does not exist.
func gone(pid int) error {
	queue, err := unix.Kqueue()
	if err != nil {
		return err
	}
	defer unix.Close(queue)
	want := []unix.Kevent_t{{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD, Fflags: unix.NOTE_EXIT}}
	for {
		n, err := unix.Kevent(queue, want, make([]unix.Kevent_t, 1), nil)
		switch {
		case errors.Is(err, unix.EINTR):
			want = nil
		case errors.Is(err, unix.ESRCH):
			return nil
		case err != nil:
			return err
		case n > 0:
			return nil
		}
	}
}
