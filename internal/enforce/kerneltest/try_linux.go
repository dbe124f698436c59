package kerneltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
)

// Load starts the trial that a file describes, as exec starts a tool. It returns only
// when that failed.
func Load(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var s Start
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	spec, err := start.Parse(s.Spec)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	attempt, err := json.Marshal(s.Attempt)
	if err != nil {
		return err
	}
	return start.Start(start.Request{
		Spec: spec, Program: self, Args: []string{TryCommand, string(attempt)},
		Under: s.Under, Accept: s.Accept, Environ: s.Environ,
		Messages: io.Discard, Offline: true,
	})
}

// Try runs under the policy: it tries one operation and prints the error.
func Try(request string, out io.Writer) error {
	var a Attempt
	if err := json.Unmarshal([]byte(request), &a); err != nil {
		return err
	}
	err := a.try()
	name := ""
	var errno syscall.Errno
	if errors.As(err, &errno) {
		name = unix.ErrnoName(errno)
	} else if err != nil {
		name = err.Error()
	}
	_, err = fmt.Fprintln(out, answer+name)
	return err
}

func (a Attempt) try() error {
	switch a.Op {
	case "read":
		return read(a.A)
	case "create":
		return opened(a.A, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	case "update":
		if info, err := os.Stat(a.A); err == nil && info.IsDir() {
			return unix.UtimesNanoAt(unix.AT_FDCWD, a.A, nil, 0)
		}
		return opened(a.A, unix.O_WRONLY)
	case "delete":
		if info, err := os.Lstat(a.A); err == nil && info.IsDir() {
			return unix.Rmdir(a.A)
		}
		return unix.Unlink(a.A)
	case "execute", "run":
		return started(a.A, a.Argv)
	case "copy":
		if err := opened(a.A, unix.O_RDONLY); err != nil {
			return err
		}
		return opened(a.B, unix.O_WRONLY|unix.O_CREAT)
	case "rename":
		return unix.Rename(a.A, a.B)
	case "exchange":
		return unix.Renameat2(unix.AT_FDCWD, a.A, unix.AT_FDCWD, a.B, unix.RENAME_EXCHANGE)
	case "link":
		return unix.Link(a.A, a.B)
	case "symlink":
		return unix.Symlink(marker, a.A)
	case "dial":
		return connected(unix.AF_UNIX, &unix.SockaddrUnix{Name: a.A})
	case "connect":
		return a.connect()
	case "listen":
		return a.listen()
	case "env":
		if value, ok := os.LookupEnv(a.A); !ok || value != a.B {
			return unix.EACCES
		}
		return nil
	default:
		return unix.ENOSYS
	}
}

// read opens a file, or a directory the way that programs list one (opendir(3)).
func read(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return opened(path, unix.O_RDONLY|unix.O_DIRECTORY)
	}
	return opened(path, unix.O_RDONLY)
}

// opened never waits for another end and never becomes a terminal's process.
func opened(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0o644)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

// started starts a file that does not get to its first instruction: with no address space
// to be had, execve(2) passes its checks, replaces the process and fails to set up the
// stack, which kills the process.
func started(file string, argv []string) error {
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &old); err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: uint64(os.Getpagesize()), Max: old.Max}); err != nil {
		return err
	}
	pid, err := syscall.ForkExec(file, argv, &syscall.ProcAttr{})
	if restored := unix.Setrlimit(unix.RLIMIT_AS, &old); err != nil {
		return err
	} else if restored != nil {
		return restored
	}
	_, err = syscall.Wait4(pid, nil, 0, nil)
	return err
}

// nobody is an address that no host has: one for documentation (RFC 5737).
var nobody = netip.MustParseAddr("192.0.2.1")

func (a Attempt) connect() error {
	port, err := strconv.Atoi(a.B)
	if err != nil {
		return err
	}
	addr, err := netip.ParseAddr(a.A)
	if err != nil {
		addr, err = lookup(a.A)
	}
	if err != nil {
		return err
	}
	return connected(socketAddress(addr, port))
}

func socketAddress(addr netip.Addr, port int) (domain int, at unix.Sockaddr) {
	if addr.Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: addr.As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: port, Addr: addr.As16()}
}

// listen waits for no connection.
func (a Attempt) listen() error {
	addr, err := netip.ParseAddr(a.A)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(a.B)
	if err != nil {
		return err
	}
	domain, at := socketAddress(addr, port)
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err = unix.Bind(fd, at); err == nil {
		err = unix.Listen(fd, 1)
	}
	if err == nil && addr.Unmap().IsUnspecified() && !everywhere(fd) {
		err = unix.EACCES // the supervisor has made it at a loopback address
	}
	return errors.Join(err, unix.Close(fd))
}

// connected does not wait for an answer.
func connected(domain int, to unix.Sockaddr) error {
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	err = unix.Connect(fd, to)
	return errors.Join(err, unix.Close(fd))
}

// maxLookup is how long an answer may take, in seconds.
const maxLookup = 10

// lookup asks a resolver for a name, as programs do.
func lookup(name string) (addr netip.Addr, err error) {
	host, err := dnsmessage.NewName(name + ".")
	if err != nil {
		return addr, err
	}
	question := dnsmessage.Message{
		Header: dnsmessage.Header{RecursionDesired: true}, Questions: []dnsmessage.Question{{Name: host, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}},
	}
	data, err := question.Pack()
	if err != nil {
		return addr, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nobody, nil // there is no way to ask: ports are all that is judged
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: maxLookup}); err != nil {
		return addr, err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: 53, Addr: nobody.As4()}); err != nil {
		return addr, err
	}
	if _, err := unix.Write(fd, data); err != nil {
		return addr, err
	}
	buf := make([]byte, 4096)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return addr, err
	}
	return address(buf[:n])
}

// address reads the answer to a lookup.
func address(answer []byte) (addr netip.Addr, err error) {
	var m dnsmessage.Message
	if err := m.Unpack(answer); err != nil {
		return addr, err
	}
	if m.RCode == dnsmessage.RCodeRefused {
		return addr, unix.EACCES
	}
	for _, r := range m.Answers {
		if a, ok := r.Body.(*dnsmessage.AResource); ok {
			return netip.AddrFrom4(a.A), nil
		}
	}
	return addr, fmt.Errorf("no address: %v", m.RCode)
}

// everywhere reports whether a socket listens at every address.
func everywhere(fd int) bool {
	switch sa, _ := unix.Getsockname(fd); sa := sa.(type) {
	case *unix.SockaddrInet4:
		return sa.Addr == [4]byte{}
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(sa.Addr).Unmap().IsUnspecified()
	}
	return false
}
