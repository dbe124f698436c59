// Command init is the first process of a guest: it makes the file systems that the tests
// expect, runs every test binary under /tests, and powers the guest off. Its results go to the
// second serial port, line by line; its own lines start with mark. The kernel hands over the
// parameters of its command line as environment.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mark starts the lines that are not a test's.
const mark = "kernels: "

const results = "/dev/ttyS1"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "work" {
		work(os.Stdout)
		return
	}
	if err := start(); err != nil {
		fmt.Println(mark+"error", err)
	}
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// start prepares the guest and reaps until the work is done: the tests leave orphans
// behind, which the first process inherits.
func start() error {
	if err := mounts(); err != nil {
		return err
	}
	if err := loopback(); err != nil {
		return err
	}
	port, err := os.OpenFile(results, os.O_WRONLY|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	if err := raw(port); err != nil {
		return err
	}
	worker, err := os.StartProcess("/init", []string{"/init", "work"}, &os.ProcAttr{
		Env: environ(), Files: []*os.File{nil, port, port},
	})
	if err != nil {
		return err
	}
	for {
		pid, err := unix.Wait4(-1, nil, 0, nil)
		if pid == worker.Pid || err != nil && err != unix.EINTR {
			break
		}
	}
	return drain(port)
}

// environ is the environment of a login, and the parameters of the kernel.
func environ() []string {
	out := []string{"PATH=/usr/bin:/bin", "TMPDIR=/tmp", "LC_ALL=C"}
	return append(out, os.Environ()...)
}

func mounts() error {
	for _, m := range []struct{ kind, at, data string }{
		{"proc", "/proc", ""}, {"sysfs", "/sys", ""}, {"cgroup2", "/sys/fs/cgroup", ""}, {"devtmpfs", "/dev", ""}, {"devpts", "/dev/pts", ""},
		{"tmpfs", "/dev/shm", "mode=1777"}, {"tmpfs", "/tmp", "mode=1777"}, {"tmpfs", "/var/tmp", "mode=1777"}, {"tmpfs", "/run", "mode=755"},
	} {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.at, m.kind, 0, m.data); err != nil {
			return fmt.Errorf("mounting %s: %w", m.at, err)
		}
	}
	return nil
}

// loopback brings the interface up: without it a refused connection looks like an
// unreachable network.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// raw stops the port from translating its output.
func raw(port *os.File) error {
	t, err := unix.IoctlGetTermios(int(port.Fd()), unix.TCGETS)
	if err != nil {
		return fmt.Errorf("%s: %w", results, err)
	}
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ICANON | unix.ISIG
	return unix.IoctlSetTermios(int(port.Fd()), unix.TCSETS, t)
}

// drain waits until everything has left the port.
func drain(port *os.File) error { return unix.IoctlSetInt(int(port.Fd()), unix.TCSBRK, 1) }

// work runs the tests one binary after the other.
func work(out io.Writer) {
	report(out, "doctor", "accessc", "doctor", "--format", "json")
	binaries, _ := filepath.Glob("/tests/*/test")
	for _, b := range binaries {
		args := []string{"-test.v", "-test.timeout=" + os.Getenv("TIMEOUT")}
		for _, f := range []string{"skip", "run"} {
			if v := os.Getenv(strings.ToUpper(f)); v != "" {
				args = append(args, "-test."+f+"="+v)
			}
		}
		fmt.Fprintf(out, mark+"run %s\n", filepath.Base(filepath.Dir(b)))
		begin := time.Now()
		code := stream(out, b, args)
		fmt.Fprintf(out, mark+"exit %d %v\n", code, time.Since(begin).Round(time.Millisecond))
	}
	fmt.Fprintln(out, mark+"end")
}

// report runs a command and prints each line of its output under a name.
func report(out io.Writer, name string, argv ...string) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = out
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(out, mark+"error", err)
		return
	}
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		fmt.Fprintln(out, mark+name, lines.Text())
	}
	_ = cmd.Wait()
}

// stream runs a test binary in its own directory and returns its exit status.
func stream(out io.Writer, file string, args []string) int {
	cmd := exec.Command(file, args...)
	cmd.Dir = filepath.Dir(file)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		fmt.Fprintln(out, mark+"error", err)
		return -1
	}
	return cmd.ProcessState.ExitCode()
}
