package sandbox_test

import (
	"bufio"
	"bytes"
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
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/sandbox"
	"github.com/accessc/accessc/test/irtest"
)

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
