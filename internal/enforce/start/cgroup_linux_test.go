package start_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

// startIn is the cgroup that loaders are started in, nil for that of the test.
var startIn *os.File

func init() {
	attempts["hogs"], attempts["throng"], attempts["orphan"] = hogs, throng, orphan
}

// hog takes memory, says so if it is any, and keeps it until nobody reads what it says.
func hog(mebibytes string) {
	n, _ := strconv.Atoi(mebibytes)
	data := make([]byte, n<<20+1)
	for i := range data {
		data[i] = 1
	}
	if n > 0 {
		fmt.Print("\n")
	}
	for {
		if n, err := unix.Poll([]unix.PollFd{{Fd: 1}}, -1); n > 0 || err != unix.EINTR { // POLLERR comes unasked
			os.Exit(int(data[0]) - 1)
		}
	}
}

// hogs runs processes of which each takes 64 MiB, and reports whether one was killed.
func hogs(a, _ name) error {
	n, _ := strconv.Atoi(filepath.Base(a.path))
	var said []io.ReadCloser
	var all []*exec.Cmd
	for range n {
		cmd := exec.Command(os.Args[0], "kernel-hog", "64")
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return err
		}
		said, all = append(said, out), append(all, cmd)
	}
	for _, out := range said {
		_, _ = out.Read(make([]byte, 1)) // a killed one says nothing
	}
	var err error
	for i, cmd := range all {
		_ = said[i].Close()
		if cmd.Wait() != nil {
			err = unix.ENOMEM
		}
	}
	return err
}

// throng starts processes until that fails, and ends them: their number is the error number.
func throng(_, _ name) error {
	var pids []int
	defer func() {
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
	}()
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	defer out.Close()
	for len(pids) < 100 {
		pid, err := syscall.ForkExec("/bin/cat", []string{"cat"}, &syscall.ProcAttr{Files: []uintptr{in.Fd(), 1, 2}})
		if err != nil {
			break
		}
		pids = append(pids, pid)
	}
	return syscall.Errno(len(pids))
}

// orphan leaves a process behind that ends when nobody reads what the tool says.
func orphan(_, _ name) error {
	cmd := exec.Command(os.Args[0], "kernel-hog", "0")
	cmd.Stdout = os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// delegation is a cgroup that hands memory and pids down, with a group below it to start in, as
// systemd gives to a user, but made by hand.
type delegation struct{ dir string }

func delegate(t *testing.T, who identity) delegation {
	if os.Geteuid() != 0 {
		t.Skip("making a delegated cgroup takes root")
	}
	const top = "/sys/fs/cgroup"
	have, err := os.ReadFile(top + "/cgroup.controllers")
	for _, c := range []string{"memory", "pids"} {
		if err != nil || !slices.Contains(strings.Fields(string(have)), c) {
			t.Skipf("no version 2 of cgroups with memory and pids at %s (%q, %v); task kernels has it", top, have, err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(top+"/cgroup.subtree_control", []byte("+memory +pids"), 0))
	dir, err := os.MkdirTemp(top, "accessc-test-")
	must(err)
	d := delegation{dir}
	must(os.Chmod(d.dir, 0o755))
	must(os.Mkdir(d.dir+"/here", 0o755))
	must(os.WriteFile(d.dir+"/cgroup.subtree_control", []byte("+memory +pids"), 0))
	for _, p := range []string{"", "/cgroup.procs", "/cgroup.subtree_control", "/here", "/here/cgroup.procs"} {
		if who != nil {
			must(os.Chown(d.dir+p, int(who.Uid), int(who.Gid)))
		}
	}
	startIn, err = os.Open(d.dir + "/here")
	must(err)
	t.Cleanup(func() {
		_ = startIn.Close()
		startIn = nil
		_ = os.WriteFile(d.dir+"/cgroup.kill", []byte("1"), 0)
		await.Until(t, d.dir+" can be removed", func() bool {
			_ = os.Remove(d.dir + "/here")
			return os.Remove(d.dir) == nil
		})
	})
	return d
}

// runs lists the groups of runs.
func (d delegation) runs(t *testing.T) []string {
	found, err := filepath.Glob(d.dir + "/accessc-*")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (d delegation) empties(t *testing.T) {
	t.Helper()
	await.Until(t, "the group of the run is gone", func() bool { return len(d.runs(t)) == 0 })
}

// limited starts a tool with limits, supervised or not.
func limited(t *testing.T, mode string, who identity, limits ...ir.Limit) *tool {
	dir := workspace(t)
	for _, p := range []string{"ws", "home"} {
		if err := os.Mkdir(filepath.Join(dir, p), 0o700); err != nil {
			t.Fatal(err)
		}
		if who != nil {
			_ = os.Chown(filepath.Join(dir, p), int(who.Uid), int(who.Gid))
			_ = os.Chown(dir, int(who.Uid), int(who.Gid))
		}
	}
	policy := ir.NewTool("t")
	policy.Limits = limits
	if mode != "kernel-supervised" {
		policy.FS = []ir.FSRule{{Written: ".", At: ir.In(""), Caps: ir.Caps(ir.Read)}}
	}
	own := ir.Sys(strings.TrimPrefix(binary, "/"))
	facts := ir.Facts{
		Bindings: &ir.Bindings{Workspace: filepath.Join(dir, "ws"), Home: filepath.Join(dir, "home")}, Program: &own, Base: hostBase(),
	}
	out, err := landlock.Backend{}.Compile(policy, backends.Target{Form: backends.Resolved, Facts: facts})
	if err != nil {
		t.Fatal(err)
	}
	return startMode(t, mode, out.Data, dir, who)
}

func (x *tool) attempt(t *testing.T, op, a string) syscall.Errno {
	t.Helper()
	data, _ := json.Marshal([]attempt{{Op: op, A: a, HowA: "absolute"}})
	_, err := x.in.Write(append(data, '\n'))
	if err != nil || !x.out.Scan() {
		return unix.ESRCH
	}
	var out [1]syscall.Errno
	if err := json.Unmarshal(x.out.Bytes(), &out); err != nil {
		t.Fatalf("the worker says %q", x.out.Text())
	}
	return out[0]
}

// TestGroupLimits: where a cgroup is delegated, limits count all processes of a tool together,
// for root as for others, and the group goes with the run.
func TestGroupLimits(t *testing.T) {
	for name, who := range map[string]identity{"root": nil, "nobody": {Uid: 65534, Gid: 65534}} {
		for _, mode := range []string{"kernel-supervised", "kernel-worker-loader"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				if mode == "kernel-supervised" && !start.ThisHost().Supervises {
					t.Skip("this kernel has no user notification as of 5.19")
				}
				testGroupLimits(t, mode, who)
			})
		}
	}
}

func testGroupLimits(t *testing.T, mode string, who identity) {
	d := delegate(t, who)
	const most = 60
	x := limited(t, mode, who, ir.Limit{Kind: ir.LimitProcesses, Value: most})
	if n := int(x.attempt(t, "throng", "")); n < 20 || n >= most {
		t.Errorf("%d processes could be started under a limit of %d; %s", n, most, x.errs)
	}
	if got := d.runs(t); len(got) != 1 {
		t.Errorf("expected one group: %v", got)
	}
	x.stop()
	d.empties(t)

	// One of two fits; each by itself would.
	x = limited(t, mode, who, ir.Limit{Kind: ir.LimitMemory, Value: 128 << 20})
	if e := x.attempt(t, "hogs", "1"); e != 0 {
		t.Errorf("one does not fit: %v; %s", e, x.errs)
	}
	if e := x.attempt(t, "hogs", "2"); e != unix.ESRCH {
		t.Errorf("two fit, or one survived the other: %v", e)
	}
	x.stop()
	if ws := x.cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != unix.SIGKILL {
		t.Errorf("expected the tool to be killed: %v; %s", x.cmd.ProcessState, x.errs)
	}
	d.empties(t)

	// Processes that an unsupervised tool leaves behind go on, and the group until then.
	x = limited(t, mode, who, ir.Limit{Kind: ir.LimitProcesses, Value: most})
	if e := x.attempt(t, "orphan", ""); e != 0 {
		t.Fatal(e)
	}
	reads, err := unix.Dup(int(x.pipe.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	x.stop()
	if left := len(d.runs(t)); left != 1 && mode != "kernel-supervised" {
		t.Errorf("the group of a running process is gone")
	}
	_ = unix.Close(reads)
	d.empties(t)

	// Killed, the loader leaves nothing.
	x = limited(t, mode, who, ir.Limit{Kind: ir.LimitProcesses, Value: most})
	if e := x.attempt(t, "none", ""); e != 0 {
		t.Fatal(e)
	}
	_ = x.cmd.Process.Kill()
	x.stop()
	d.empties(t)
}

// TestNoGroup: without a delegation the limits count per process, which has to be
// accepted.
func TestNoGroup(t *testing.T) {
	if h := start.ThisHost(); h.ABI < 1 || len(h.Groups) > 0 {
		t.Skip("needs Landlock and a host that delegates nothing")
	}
	x := limited(t, "kernel-loader", nil, ir.Limit{Kind: ir.LimitMemory, Value: 4 << 30})
	if e := x.ask(t, question{Op: "descriptor", A: "0"}); e != 0 {
		t.Fatalf("%v; %s", e, x.errs)
	}
	x.stop()
}
