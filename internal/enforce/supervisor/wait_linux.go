package supervisor

import (
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// forwarded are the signals that this process passes on to the tool.
var forwarded = []os.Signal{
	unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGWINCH, unix.SIGUSR1, unix.SIGUSR2,
}

// forward passes signals on until the returned function is called. The tool is in this process's group, so
// that a terminal's signals reach it by themselves.
func (t *Tool) forward() (stop func()) {
	return PassOn(func(s syscall.Signal) {
		if !fromTerminal(s) {
			_ = unix.Kill(t.pid, s)
		}
	})
}

// PassOn has signals that reach this process passed on until the returned function is called; from then
// on they are ignored, since this process is about to end.
func PassOn(to func(syscall.Signal)) (stop func()) {
	var caught []os.Signal
	for _, s := range forwarded {
		if !signal.Ignored(s) {
			caught = append(caught, s)
		}
	}
	in := make(chan os.Signal, 16)
	signal.Notify(in, caught...)
	// Not signal.Stop: it waits for the goroutine that takes signals.
	var mu sync.Mutex
	over := false
	go func() {
		for s := range in {
			mu.Lock()
			if !over {
				to(s.(syscall.Signal))
			}
			mu.Unlock()
		}
	}()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

// fromTerminal reports whether the terminal has sent a signal to the whole group: it does so
// for the foreground group, with signals that other programs rarely send.
func fromTerminal(s syscall.Signal) bool {
	if s != unix.SIGINT && s != unix.SIGQUIT && s != unix.SIGWINCH {
		return false
	}
	tty, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer unix.Close(tty)
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// wait waits for the tool and reaps the orphans that become children of this process. When the
// tool stops itself this process stops, too, so that a shell sees its job stopped. deliver gets
// all events, and stops that a worker expects have no further effect.
func (t *Tool) wait(deliver func(id int, ws syscall.WaitStatus) bool) syscall.WaitStatus {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WUNTRACED, nil)
		switch expected := err == nil && deliver(pid, ws); {
		case expected && ws.Stopped():
		case err == syscall.EINTR:
		case err != nil:
			// There is no child left, which cannot be.
			return syscall.WaitStatus(125 << 8)
		case pid != t.pid:
		case ws.Stopped():
			stopHere()
			if t.ends.IsZero() || time.Now().Before(t.ends) { // else the sweeper woke this process
				_ = unix.Kill(t.pid, unix.SIGCONT)
			}
		default:
			return ws
		}
	}
}

// stopHere stops this process, and returns when it goes on. A signal to the process might be taken by another thread,
// while this thread lets the tool go on.
func stopHere() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGSTOP)
}

// maxFinish bounds how long finish kills the processes that the tool has left running.
const maxFinish = 10 * time.Second

// finish kills the processes that the tool has left running: their calls would no longer be
// answered. Orphans become children of this process, so it kills its children until none is
// left. A process can start another and end within the time of a look at all of /proc, so the kernel's list of
// orphans comes first, and its processes are killed at once.
func (t *Tool) finish() {
	// Only this call finds the caller's own clones, which have no exit signal.
	_, _ = syscall.Wait4(-1, nil, syscall.WNOHANG|unix.WCLONE, nil)
	for end := time.Now().Add(maxFinish); time.Now().Before(end); {
		if !reapSome() {
			return
		}
		for range quickLooks {
			for _, child := range slices.Backward(orphans()) { // the latest, which may still run
				_ = unix.Kill(child, unix.SIGKILL)
			}
		}
		for _, child := range children(unix.Getpid()) {
			_ = unix.Kill(child, unix.SIGKILL)
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// reapSome takes ends of children, and reports whether there may be more children. It does not go on as long as it
// finds some: processes that hop end faster than a busy machine lets this process take their ends.
func reapSome() bool {
	const some = 1000
	for range some {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.ECHILD {
			return false
		}
		if pid <= 0 && err != syscall.EINTR {
			break
		}
	}
	return true
}

// quickLooks is how many looks at the orphans come before a look at all processes.
// See decision D354.
const quickLooks = 32

// orphans lists the processes that became children of this process, in that order: they belong to its first
// thread (find_new_reaper() in kernel/exit.c). Kernels without CONFIG_PROC_CHILDREN list none
// (proc_pid_children(5)).
func orphans() []int {
	self := strconv.Itoa(unix.Getpid())
	list, _ := os.ReadFile("/proc/self/task/" + self + "/children")
	var out []int
	for _, child := range strings.Fields(string(list)) {
		if pid, err := strconv.Atoi(child); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// children lists the processes whose parent is the given process.
func children(parent int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name is in parentheses and may hold anything; state and parent follow.
		rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(parent) {
			out = append(out, pid)
		}
	}
	return out
}

// Exit ends this process the way that the tool ended: with its status, or by the same
// signal, without another core file.
func Exit(ws syscall.WaitStatus) {
	if !ws.Signaled() {
		os.Exit(ws.ExitStatus())
	}
	s := ws.Signal()
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	byDefault(s)
	_ = unix.Kill(unix.Getpid(), s)
	const shells = 128
	time.Sleep(100 * time.Millisecond)
	os.Exit(shells + int(s))
}
