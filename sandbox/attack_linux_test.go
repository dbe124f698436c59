package sandbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/sandbox"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/testbuild"
)

// hostMode has this test's program be a host that starts tools and is killed.
const hostMode = "ACCESSC_TEST_HOST"

func TestMain(m *testing.M) {
	if dir := os.Getenv(hostMode); dir != "" {
		if err := beHost(dir); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
	}
	if dir := os.Getenv(userMode); dir != "" {
		if err := beUser(dir); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// beHost starts tools that last, each with a process of its own beside it, prints their numbers and
// waits.
func beHost(dir string) error {
	h, err := sandbox.Open(sandbox.Config{Dir: dir})
	if err != nil {
		return err
	}
	for _, tool := range both {
		p, err := h.Start(context.Background(), sandbox.Request{Tool: tool, Args: []string{"-c", "sleep 1000 & echo $!; exec sleep 1000"}, Stdout: os.Stdout})
		if err != nil {
			return err
		}
		fmt.Println(tool, p.Pid())
	}
	select {}
}

// alive reports whether a process runs: one that has ended and is not reaped does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return f[0] != "Z" && f[0] != "X"
}

// children lists the processes below one whose argv[0] is a name; empty for any.
func children(parent int, name string) (out []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		first, _, _ := strings.Cut(string(line), "\x00")
		f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(f) > 1 && f[1] == strconv.Itoa(parent) && (name == "" || first == name) {
			out = append(out, pid)
		}
	}
	return out
}

const marker = "accessc-sandbox"

func helpers() []int { return children(os.Getpid(), marker) }

// eventually waits for a condition.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	await.Until(t, what, holds)
}

// opening reports whether a thread of a process waits in a call that opens a file (proc_pid_syscall(5)).
func opening(pid int) bool {
	calls, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	return slices.ContainsFunc(calls, func(name string) bool {
		text, _ := os.ReadFile(name)
		number, _, _ := strings.Cut(string(text), " ")
		return number == strconv.Itoa(unix.SYS_OPENAT) || number == strconv.Itoa(unix.SYS_OPENAT2)
	})
}

// few reports whether this process may open too few descriptors for dozens of tools at a time.
func few() bool {
	var limit unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && limit.Cur < 1024
}

// TestDescriptors: a tool gets none of the descriptors that the host has open, however it has opened
// them.
func TestDescriptors(t *testing.T) {
	h, ws := open(t)
	fd, err := unix.Open(ws+"/secret", unix.O_RDONLY, 0) // not closed at execve
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	high := 300
	if few() {
		high = 200
	}
	for _, number := range []int{77, high} {
		if err := unix.Dup2(fd, number); err != nil {
			t.Fatal(err)
		}
		defer unix.Close(number)
	}
	for _, tool := range both {
		script := fmt.Sprintf("for f in /proc/self/fd/*; do echo ${f##*/}; done; cat /proc/self/fd/77 /proc/self/fd/%d", high)
		out, err := h.Command(tool, "-c", script).CombinedOutput()
		numbers := strings.Fields(strings.SplitN(string(out), "cat:", 2)[0])
		if len(numbers) > 4 || strings.Contains(string(out), "hidden") || strings.Count(string(out), "No such file") != 2 {
			t.Errorf("%s: %q %v", tool, out, err)
		}
	}
}

// TestSockets: a standard descriptor that would reach the network under any filter is refused.
func TestSockets(t *testing.T) {
	h, _ := open(t)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	var refused *sandbox.StartError
	for _, tool := range both {
		if _, err := h.Start(t.Context(), sandbox.Request{Tool: tool, Stdin: f}); !errors.As(err, &refused) || refused.Code != 125 {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

// TestApart: tools of one helper see nothing of one another, although one process supervises them.
func TestApart(t *testing.T) {
	h, _ := open(t)
	for _, victim := range both {
		c := h.Command(victim, "-c", "echo $TMPDIR; echo kept > $TMPDIR/file; echo; exec sleep 1000")
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan()
		tmp := lines.Text()
		lines.Scan()
		pid := c.Process.Pid()
		for _, tool := range both {
			script := fmt.Sprintf("cat %[2]s/file; ls %[2]s; cat /proc/%[1]d/environ /proc/%[1]d/cmdline; ls /proc/%[1]d/fd; kill -9 %[1]d; echo x > %[2]s/new", pid, tmp)
			said, _ := h.Command(tool, "-c", script).Output()
			if len(said) > 0 || !alive(pid) {
				t.Errorf("%s about %s: %q", tool, victim, said)
			}
			if _, err := os.Stat(tmp + "/new"); err == nil {
				t.Errorf("%s has written into the directory of %s", tool, victim)
			}
		}
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}

// TestStuckCall: a call that the supervisor makes for a tool may wait for ever after the tool's end. Such
// a helper gets no further tools and ends.
func TestStuckCall(t *testing.T) {
	h, ws := open(t)
	if err := unix.Mkfifo(ws+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		p, err := h.Start(t.Context(), sandbox.Request{Tool: "supervised", Args: []string{"-c", "echo; cat fifo"}})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the supervisor opens the pipe", func() bool { return slices.ContainsFunc(helpers(), opening) })
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		if state, err := p.Wait(); err != nil || state.Signal != unix.SIGKILL {
			t.Fatalf("%v %v", state, err)
		}
	}
	if out, err := h.Command("supervised", "-c", "cat plain").Output(); err != nil || string(out) != "shown\n" {
		t.Errorf("%q %v", out, err)
	}
	eventually(t, "one helper", func() bool { return len(helpers()) <= 1 })
}

// open files and threads of a process, and its resident memory in bytes.
type use struct{ files, threads, memory int }

func used(t *testing.T, pid int) use {
	t.Helper()
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	status, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	field := func(name string) int {
		_, rest, _ := strings.Cut(string(status), name+":")
		n, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return use{len(fds), field("Threads"), field("VmRSS") << 10}
}

// TestNoGrowth: after many starts the host and its helper have no more descriptors, threads, memory,
// children and directories than before. Some tools are cancelled, some do not start.
func TestNoGrowth(t *testing.T) {
	h, _ := open(t)
	n := irtest.Times(100_000)
	starts := func(n int) {
		var wait sync.WaitGroup
		const together = 4
		for i := range together {
			wait.Go(func() {
				for j := range n / together {
					tool := both[min(j%5, 1)^1]
					ctx, cancel := context.WithCancel(t.Context())
					r := sandbox.Request{Tool: tool, Program: "/bin/true"}
					switch {
					case j%50 == 7:
						r.Program = "no-such-program"
					case j%50 == 8:
						r.Program, r.Args = "/bin/sleep", []string{"100"}
						switch j / 50 % 3 {
						case 0:
							cancel()
						case 1:
							wait.Go(cancel)
						}
					}
					p, err := h.Start(ctx, r)
					if err == nil {
						if r.Args != nil {
							cancel()
						}
						_, err = p.Wait()
					}
					var refused *sandbox.StartError
					if err != nil && !errors.Is(err, context.Canceled) && !(errors.As(err, &refused) && refused.Code == 127) {
						t.Errorf("start %d of %d: %v", j, i, err)
					}
					cancel()
				}
			})
		}
		wait.Wait()
	}
	starts(400)
	help := helpers()
	if len(help) != 1 {
		t.Fatalf("helpers: %v", help)
	}
	before := []use{used(t, os.Getpid()), used(t, help[0])}
	starts(n)
	// One that could not end its threads in time on a busy machine is replaced.
	eventually(t, "one helper", func() bool { return len(helpers()) == 1 })
	help = helpers()
	eventually(t, "the end of all tools", func() bool { return len(children(os.Getpid(), "")) == 1 && len(children(help[0], "")) == 0 })
	for i, name := range []string{"host", "helper"} {
		now := used(t, []int{os.Getpid(), help[0]}[i])
		t.Logf("%d starts: the %s had %+v, has %+v", n, name, before[i], now)
		if now.files > before[i].files+4 || now.threads > before[i].threads+16 || now.memory > before[i].memory+48<<20 {
			t.Errorf("the %s had %+v, has %+v", name, before[i], now)
		}
	}
	if dirs, _ := filepath.Glob(os.Getenv("TMPDIR") + "/*/accessc-*"); len(dirs) > 0 {
		t.Errorf("%d directories are left", len(dirs))
	}
}

// TestClose: a host that is closed kills its tools, and starts no more.
func TestClose(t *testing.T) {
	h, _ := open(t)
	var all []*sandbox.Process
	for _, tool := range both {
		p, err := h.Start(t.Context(), sandbox.Request{Tool: tool, Args: []string{"-c", "exec sleep 1000"}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if state, _ := p.Wait(); state.Signal != syscall.SIGKILL {
			t.Errorf("%s: %v", p.Tool(), state)
		}
		if err := p.Kill(); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("%s, ended: %v", p.Tool(), err)
		}
	}
	if _, err := h.Start(t.Context(), sandbox.Request{Tool: "alone"}); !errors.Is(err, sandbox.ErrClosed) {
		t.Error(err)
	}
	if len(helpers()) > 0 {
		t.Error("the helper is left")
	}
}

// TestAsNobody runs the other tests as a user without privileges. Root runs them itself at full count.
func TestAsNobody(t *testing.T) {
	if os.Getuid() != 0 || start.ABI() == 0 {
		t.Skip("needs root, and Landlock")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	// Those that wait long for the supervisor wait beside the others.
	const ours, wait = "TestAsNobody|TestNoGrowth|TestElevated|TestUserChanged", "TestStuckCall|TestAhead"
	for name, flag := range map[string]string{
		"most":          "-test.skip=" + ours + "|" + wait,
		"TestStuckCall": "-test.run=^TestStuckCall$",
		"TestAhead":     "-test.run=^TestAhead$",
	} {
		dir, err := os.MkdirTemp("/tmp", "sandbox-test-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		// The file is written before any of them starts: a child of this process would have it open, and execve(2) fail.
		copied := dir + "/sandbox.test"
		err = errors.Join(os.Chown(dir, 65534, 65534), testbuild.WriteFile(copied, program, 0o755), os.Chmod(copied, 0o755))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.Command(copied, flag, "-test.v", "-test.timeout="+time.Until(await.Deadline(t)).String())
			c.Dir, c.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			out, err := c.CombinedOutput()
			if err != nil || strings.Contains(string(out), "--- SKIP") && !few() || !strings.Contains(string(out), "--- PASS") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestDeepTree: a tool leaves a tree that is deeper than the host removes itself, and files that their modes
// protect where it may change those. All of it is gone, and the host goes on.
func TestDeepTree(t *testing.T) {
	h, _ := open(t)
	for _, tool := range both {
		script := "cd $TMPDIR; p=d; for i in 1 2 3 4 5 6 7; do p=$p/$p; done; mkdir -p $p; mkdir closed; echo x > closed/x; chmod 0 closed 2>/dev/null; true"
		if out, err := h.Command(tool, "-c", script).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %q %v", tool, out, err)
		}
		if out, err := h.Command(tool, "-c", "mkdir -p $TMPDIR/a/b; echo x > $TMPDIR/a/b/c; ln -s / $TMPDIR/root").CombinedOutput(); err != nil {
			t.Errorf("%s: %q %v", tool, out, err)
		}
		if dirs, _ := filepath.Glob(os.Getenv("TMPDIR") + "/*/accessc-*"); len(dirs) > 0 {
			t.Errorf("%s: %v is left", tool, dirs)
		}
	}
}

// TestLimits: limits of a policy hold for tools of a host, and the one that has ended a tool is told.
func TestLimits(t *testing.T) {
	h, _ := open(t)
	out, err := h.Command("limited", "-c", "ulimit -n; ulimit -f; head -c 100000 /dev/zero > $TMPDIR/f; wc -c < $TMPDIR/f").Output()
	if err != nil || !strings.HasPrefix(string(out), "20\n") || !strings.HasSuffix(string(out), "\n4096\n") {
		t.Errorf("%q %v", out, err)
	}
	c := h.Command("timed", "-c", "exec sleep 1000")
	if err := c.Run(); err == nil || c.State.Limit != "wall_time" || c.State.Signal != unix.SIGKILL {
		t.Errorf("%v %+v", err, c.State)
	}
}
