package sandbox_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/sandbox"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
)

// sharedMemory lists the directory in shared memory of a process's run, none if there is none: its name is that of the
// run's temporary directory. Those of other runs come and go at any time.
func sharedMemory(t *testing.T, pid int) []string {
	t.Helper()
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Fatal(err)
	}
	for entry := range strings.SplitSeq(string(env), "\x00") {
		if temp, ok := strings.CutPrefix(entry, "TMPDIR="); ok {
			dirs, _ := filepath.Glob("/dev/shm/" + filepath.Base(temp))
			return dirs
		}
	}
	return nil
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
	below, shared := children(pids["supervised"], ""), []string{}
	for _, pid := range pids {
		shared = append(shared, sharedMemory(t, pid)...)
	}
	if _, err := os.Stat("/dev/shm"); err == nil && len(shared) != 1 {
		t.Errorf("directories in shared memory: %v", shared)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	for _, pid := range append(append(help, below...), pids["alone"], pids["supervised"]) {
		eventually(t, "the end of "+strconv.Itoa(pid), func() bool { return !alive(pid) })
	}
	eventually(t, "the end of the directories", func() bool {
		left, err := os.ReadDir(os.Getenv("TMPDIR"))
		return err == nil && len(left) == 0 && !slices.ContainsFunc(shared, func(dir string) bool {
			_, err := os.Lstat(dir)
			return err == nil
		})
	})
	for _, pid := range beside { // of a tool that nothing supervises, these go on
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// TestHostKilledBeforeHello: a helper whose host was killed before the helper could serve removes the directory that the host
// has made for runs: no other process knows it.
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
// 20 s for one, as it had the other end of the socket open itself. It would wait for ever here.
func TestHelperKilledMeanwhile(t *testing.T) {
	defer sandbox.HelloWithin(10000 * time.Hour)()
	h, _ := open(t)
	before, dirs := abandoned(), os.Getenv("TMPDIR")+"/*/accessc-*"
	// Moments of a start, in their order.
	moments := []func() bool{
		func() bool { return true },
		func() bool { return len(helpers()) > 0 },
		func() bool { left, _ := filepath.Glob(dirs); return len(left) > 0 },
		func() bool {
			return slices.ContainsFunc(helpers(), func(pid int) bool { return len(children(pid, "")) > 0 })
		},
		func() bool {
			return slices.ContainsFunc(children(os.Getpid(), ""), func(pid int) bool { return len(children(pid, "sleep")) > 0 })
		},
	}
	const together = 3
	irtest.Race(t, irtest.Times(60), 2*irtest.Times(60), func(round int) bool {
		results := make(chan error, together)
		for range together {
			go func() { results <- h.Command("supervised", "-c", "sleep 0.005").Run() }()
		}
		moment := moments[round%len(moments)]
		await.Until(t, "a moment of a start", func() bool { return moment() || len(results) == together })
		for _, pid := range helpers() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		lost := false
		for range together {
			if err, _ := await.Receive(t, "the end of a tool", results); err != nil {
				lost = true
			}
		}
		eventually(t, fmt.Sprintf("the end of the directories in round %d", round), func() bool {
			left, _ := filepath.Glob(dirs)
			return len(left) == 0 && len(abandoned()) <= len(before)
		})
		return lost
	})
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

// TestHops: processes of a tool each of which starts the next one and ends at once have ended when Wait returns. By the time that all
// processes were looked at, each had ended.
func TestHops(t *testing.T) {
	h, ws := open(t)
	const hops = `exec 9>lock; flock 9; hop() { hop & }; for i in 1 2 3 4; do hop; done; sleep 0.2`
	if out, err := h.Command("supervised", "-c", hops).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(ws + "/lock")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Errorf("a process of the tool has its lock: %v", err)
	}
}
