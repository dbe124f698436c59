package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// probeWord makes this program the tool of a case.
const probeWord = "cases-probe"

// operations are the operations of a tool, by name, with the number of their arguments.
var operations = map[string]struct {
	args int
	try  func(args []string) error
}{
	"read":     {1, func(a []string) error { _, err := os.ReadFile(a[0]); return err }},
	"list":     {1, func(a []string) error { _, err := os.ReadDir(a[0]); return err }},
	"create":   {1, func(a []string) error { return opened(a[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL) }},
	"mkdir":    {1, func(a []string) error { return os.Mkdir(a[0], 0o755) }},
	"symlink":  {2, func(a []string) error { return os.Symlink(a[0], a[1]) }},
	"update":   {1, func(a []string) error { return opened(a[0], os.O_WRONLY|os.O_APPEND) }},
	"truncate": {1, func(a []string) error { return os.Truncate(a[0], 0) }},
	"delete":   {1, func(a []string) error { return os.Remove(a[0]) }},
	"rename":   {2, func(a []string) error { return renamed(a[0], a[1]) }},
	"link":     {2, func(a []string) error { return os.Link(a[0], a[1]) }},
	"chmod":    {1, func(a []string) error { return os.Chmod(a[0], 0o600) }},
	"touch":    {1, func(a []string) error { return os.Chtimes(a[0], time.Unix(1, 0), time.Unix(1, 0)) }},
	"start":    {1, func(a []string) error { return started(exec.Command(a[0])) }},
	"run":      {2, func(a []string) error { return started(exec.Command(a[0], a[1:]...)) }},
	"connect":  {1, func(a []string) error { return dialed("tcp", a[0]) }},
	"listen":   {1, listened},
	"dial":     {1, func(a []string) error { return dialed("unix", a[0]) }},
	"env":      {1, forwarded},
	"open":     {2, openMany},
	"access":   {1, func(a []string) error { return searchable(a[0]) }},
	"signal":   {0, func([]string) error { return signalled(os.Getppid()) }},
	"reach":    {1, reachable},
	"works":    {2, func(a []string) error { return worked(exec.Command(a[0], a[1])) }},
	"setid":    {1, func(a []string) error { return os.Chmod(a[0], 0o755|os.ModeSetuid) }},
	"attrid":   {1, func(a []string) error { return setIDByList(a[0]) }},
	"seen":     {1, seen},
	"map":      {1, func(a []string) error { return mapped(a[0]) }},
	"clone":    {2, func(a []string) error { return cloned(a[0], a[1]) }},
	"exchange": {2, func(a []string) error { return exchanged(a[0], a[1]) }},
}

func known(op []string) bool {
	if len(op) == 0 {
		return false
	}
	o, ok := operations[op[0]]
	return ok && len(op)-1 == o.args
}

func opened(path string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString("x")
	return errors.Join(err, f.Close())
}

// started runs a program; its exit status does not matter. Its streams are files of this program, since without any
// the null device would be opened, which Windows refuses to AppContainers.
func started(cmd *exec.Cmd) error {
	in, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	if err := w.Close(); err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, os.Stderr, os.Stderr
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) {
		return err
	}
	return nil
}

// worked runs a program that must end with 0.
func worked(cmd *exec.Cmd) error {
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%w: %w: %.200s", fs.ErrPermission, err, said)
	}
	return err
}

// dialed reaches an address. A port without a listener counts as reached.
func dialed(network, address string) error {
	c, err := net.DialTimeout(network, address, 5*time.Second)
	if err == nil {
		return c.Close()
	}
	if errors.Is(err, noListener) {
		return nil
	}
	return err
}

func listened(a []string) error {
	l, err := net.Listen("tcp", a[0])
	if err != nil {
		return err
	}
	defer l.Close()
	asked, err := net.ResolveTCPAddr("tcp", a[0])
	if at := l.Addr().(*net.TCPAddr); err == nil && asked.IP.IsUnspecified() && !at.IP.IsUnspecified() {
		return fmt.Errorf("%w: it listens at %s", fs.ErrPermission, at)
	}
	return err
}

func forwarded(a []string) error {
	if _, ok := os.LookupEnv(a[0]); ok {
		return nil
	}
	return fmt.Errorf("%w: not set", fs.ErrPermission)
}

// openMany opens a file as often as it is told.
func openMany(a []string) error {
	n, err := strconv.Atoi(a[1])
	if err != nil {
		return err
	}
	var open []*os.File
	defer func() {
		for _, f := range open {
			_ = f.Close()
		}
	}()
	for range n {
		f, err := os.Open(a[0])
		if err != nil {
			return err
		}
		open = append(open, f)
	}
	return nil
}

// reachable tries to reach the process of a number.
func reachable(a []string) error {
	pid, err := strconv.Atoi(a[0])
	if err != nil {
		return err
	}
	return signalled(pid)
}

// seen reads the arguments and the environment of another process.
func seen(a []string) error {
	pid, err := strconv.Atoi(a[0])
	if err != nil {
		return err
	}
	return argumentsOf(pid)
}

// copied makes a new file of the contents of another one.
func copied(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func signalled(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return reached(p)
}

// outcome is the result of an operation: allow, deny, or another error.
type outcome struct {
	Did  string `json:"did"`
	Said string `json:"said,omitempty"`
}

// denials are the errors of a refusal: EXDEV is that of a refused move, EMFILE that of a limit.
var denials = append([]error{fs.ErrPermission, syscall.EXDEV, syscall.EMFILE}, ofSystem...)

func judge(err error) outcome {
	switch {
	case err == nil:
		return outcome{Did: string(allow)}
	case slices.ContainsFunc(denials, func(d error) bool { return errors.Is(err, d) }):
		return outcome{string(deny), err.Error()}
	default:
		return outcome{"fail", err.Error()}
	}
}

// probe is the tool: it says its number, then tries the operations that it reads and answers each line with one.
func probe(in io.Reader, out io.Writer) {
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	if enc.Encode(os.Getpid()) != nil {
		return
	}
	for {
		var op []string
		if dec.Decode(&op) != nil || !known(op) {
			return
		}
		if enc.Encode(judge(operations[op[0]].try(op[1:]))) != nil {
			return
		}
	}
}
