package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/start"
	"github.com/accessc/accessc/sandbox"
	"github.com/accessc/accessc/test/irtest"
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
		p, err := h.Start(context.Background(), sandbox.Request{Tool: tool, Args: []string{"-c", "sleep 1000 & echo $!; sleep 1000"}, Stdout: os.Stdout})
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
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

func sharedMemory() int {
	all, _ := filepath.Glob("/dev/shm/accessc-*")
	return len(all)
}

// TestHostKilled: when a host is killed, its tools, its helper, and the processes of its supervised tool
// die, and no directory stays.
func TestHostKilled(t *testing.T) {
	h, ws := open(t)
	_ = h
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	shared := sharedMemory()
	host := exec.Command(self)
	host.Env = append(os.Environ(), hostMode+"="+ws)
	out, err := host.StdoutPipe()
	if err == nil {
		err = host.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	lines := bufio.NewScanner(out)
	var beside []int
	for len(pids) < 2 || len(beside) < 2 {
		if !lines.Scan() {
			t.Fatal("the host has ended")
		}
		name, number, named := strings.Cut(lines.Text(), " ")
		if n, err := strconv.Atoi(name); err == nil {
			beside = append(beside, n)
		} else if n, err := strconv.Atoi(number); named && err == nil {
			pids[name] = n
		} else {
			t.Fatal(lines.Text())
		}
	}
	help := children(host.Process.Pid, marker)
	if len(help) != 1 {
		t.Fatalf("helpers: %v", help)
	}
	below := children(pids["supervised"], "")
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	for _, pid := range append(append(help, below...), pids["alone"], pids["supervised"]) {
		eventually(t, "the end of "+strconv.Itoa(pid), func() bool { return !alive(pid) })
	}
	eventually(t, "the end of the directories", func() bool {
		left, err := os.ReadDir(os.Getenv("TMPDIR"))
		return err == nil && len(left) == 0 && sharedMemory() <= shared
	})
	for _, pid := range beside { // of a tool that nothing supervises, these go on
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// TestHostKilledBeforeHello: a helper whose host was killed before the helper could serve removes the directory that the host
// has made for runs. Nobody else knows it.
func TestHostKilledBeforeHello(t *testing.T) {
	base := filepath.Join(t.TempDir(), "accessc-base")
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(pair[0])
	end := os.NewFile(uintptr(pair[1]), "host")
	defer end.Close()
	helper := &exec.Cmd{Path: "/proc/self/exe", Args: []string{marker, "helper", base}, ExtraFiles: []*os.File{end}}
	if out, err := helper.CombinedOutput(); err == nil {
		t.Errorf("the helper served nobody: %s", out)
	}
	if _, err := os.Stat(base); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is left: %v", err)
	}
}

// TestHelperKilled: when the helper is killed, the supervised tools and all of their processes die, and
// the next tool gets another helper. Others go on.
func TestHelperKilled(t *testing.T) {
	h, _ := open(t)
	var started []*sandbox.Process
	for _, tool := range both {
		p, err := h.Start(t.Context(), sandbox.Request{Tool: tool, Args: []string{"-c", "sleep 1000 & sleep 1000"}})
		if err != nil {
			t.Fatal(err)
		}
		started = append(started, p)
	}
	var below []int
	eventually(t, "the processes of the tool", func() bool {
		below = children(started[1].Pid(), "")
		return len(below) == 2
	})
	for _, pid := range helpers() {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	state, err := started[1].Wait()
	if !errors.Is(err, sandbox.ErrSupervisorEnded) || state.Success() {
		t.Errorf("%v %v", state, err)
	}
	for _, pid := range append(below, started[1].Pid()) {
		eventually(t, "the end of "+strconv.Itoa(pid), func() bool { return !alive(pid) })
	}
	if !alive(started[0].Pid()) {
		t.Error("a tool without a supervisor has ended with the helper")
	}
	for _, tool := range both {
		if out, err := h.Command(tool, "-c", "cat plain").Output(); err != nil || string(out) != "shown\n" {
			t.Errorf("%s, with another helper: %q %v", tool, out, err)
		}
	}
	for _, pid := range children(started[0].Pid(), "") {
		defer func() { _ = unix.Kill(pid, unix.SIGKILL) }()
	}
}

// TestHelperKilledMeanwhile: nothing is left of starts during which the helper dies, wherever they are: the host knows the
// names of a run before the helper makes anything by them. The host hears at once of a helper that dies before it serves: it waited
// 20 s for one, as it had the other end of the socket open itself.
func TestHelperKilledMeanwhile(t *testing.T) {
	h, _ := open(t)
	before := abandoned()
	started, lost := 0, 0
	var longest atomic.Int64
	for round := range irtest.Times(60) {
		var tools sync.WaitGroup
		results := make(chan error, 3)
		for range cap(results) {
			tools.Go(func() {
				begun := time.Now()
				results <- h.Command("supervised", "-c", "sleep 0.005").Run()
				longest.Store(max(longest.Load(), int64(time.Since(begun))))
			})
		}
		time.Sleep(time.Duration(mathrand.IntN(8000)) * time.Microsecond)
		for _, pid := range helpers() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		tools.Wait()
		close(results)
		for err := range results {
			if err == nil {
				started++
			} else {
				lost++
			}
		}
		eventually(t, fmt.Sprintf("the end of the directories in round %d", round), func() bool {
			dirs, _ := filepath.Glob(os.Getenv("TMPDIR") + "/*/accessc-*")
			return len(dirs) == 0 && len(abandoned()) <= len(before)
		})
	}
	t.Logf("%d tools have ended, %d starts were lost", started, lost)
	if lost == 0 {
		t.Error("no helper died in time")
	}
	if took := time.Duration(longest.Load()); took > 15*time.Second {
		t.Errorf("a start took %v", took)
	}
}

// abandoned lists the directories in shared memory of tools of hosts that no process has in its environment. The names of other runs
// have another form.
func abandoned() []string {
	dirs, _ := filepath.Glob("/dev/shm/accessc-" + strings.Repeat("[A-Z2-7]", len(rand.Text())))
	if len(dirs) == 0 {
		return nil
	}
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var all []byte
	for _, f := range files {
		env, _ := os.ReadFile(f)
		all = append(all, env...)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return bytes.Contains(all, []byte(filepath.Base(dir))) })
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
	for _, number := range []int{77, 300} {
		if err := unix.Dup2(fd, number); err != nil {
			t.Fatal(err)
		}
		defer unix.Close(number)
	}
	for _, tool := range both {
		out, err := h.Command(tool, "-c", "for f in /proc/self/fd/*; do echo ${f##*/}; done; cat /proc/self/fd/77 /proc/self/fd/300").CombinedOutput()
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
		time.Sleep(50 * time.Millisecond)
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
						time.AfterFunc(time.Duration(mathrand.IntN(5))*time.Millisecond, cancel)
					}
					p, err := h.Start(ctx, r)
					if err == nil {
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

// TestAsNobody runs the other tests as a user without privileges.
func TestAsNobody(t *testing.T) {
	if os.Getuid() != 0 || start.ABI() == 0 {
		t.Skip("needs root, and Landlock")
	}
	dir, err := os.MkdirTemp("/tmp", "sandbox-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(dir+"/sandbox.test", program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(dir+"/sandbox.test", "-test.v", "-test.skip=TestAsNobody|TestNoGrowth|TestElevated|TestUserChanged")
	c.Dir, c.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "--- SKIP") {
		t.Errorf("%v\n%s", err, out)
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
