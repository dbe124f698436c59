package start_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	attempts["start"] = func(a, b name) error { return startFile(startable(a), b) }
	attempts["startat"] = startat
	attempts["startmemory"] = startMemory
	attempts["swapped"] = swapped
	attempts["crowd"] = crowd
	attempts["renamed"] = renamed
}

// startable is a path that leads to the file of a name.
func startable(a name) string {
	if a.dir == unix.AT_FDCWD {
		return a.path
	}
	return "/proc/self/fd/" + strconv.Itoa(a.dir) + "/" + a.path
}

// startFile starts a program and waits for it. It returns ESRCH for a killed one.
func startFile(file string, b name) error {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(null)
	files := []uintptr{uintptr(null), uintptr(null), uintptr(null)}
	pid, err := syscall.ForkExec(file, strings.Split(b.path, " "), &syscall.ProcAttr{Files: files, Env: os.Environ()})
	if err != nil {
		return err
	}
	var ws syscall.WaitStatus
	for {
		if _, err = syscall.Wait4(pid, &ws, 0, nil); err != syscall.EINTR {
			break
		}
	}
	if err == nil && ws.Signaled() {
		return syscall.ESRCH
	}
	return err
}

// startat starts the file of a descriptor.
func startat(a, b name) error {
	fd, err := leave(unix.Openat(a.dir, a.path, unix.O_PATH, 0))
	if err != nil {
		return err
	}
	return startFile("/proc/self/fd/"+strconv.Itoa(fd), b)
}

// startMemory starts a copy of a program that has no place.
func startMemory(a, b name) error {
	data, err := os.ReadFile(startable(a))
	if err != nil {
		return err.(*os.PathError).Err
	}
	fd, err := leave(unix.MemfdCreate("copy", 0))
	if err != nil {
		return err
	}
	if _, err := unix.Write(fd, data); err != nil {
		return err
	}
	return startFile("/proc/self/fd/"+strconv.Itoa(fd), b)
}

// swapped starts bin/a with "yes" from memory that processes share, while a thread makes it
// bin/b and the argument "not", each by itself. The output goes to a file.
func swapped(a, b name) error {
	rounds, _ := strconv.Atoi(filepath.Base(b.path))
	out, err := unix.Open(a.path, unix.O_CREAT|unix.O_WRONLY|unix.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer unix.Close(out)
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	copy(page, "bin/a\x00")
	copy(page[64:], "yes\x00")
	ptr := func(at int) uintptr { return uintptr(unsafe.Pointer(&page[at])) }
	argv := (*[3]uintptr)(unsafe.Pointer(&page[128]))
	argv[0], argv[1] = ptr(0), ptr(64)
	flip := func(i int) {
		page[4] = "ab"[i%2]
		copy(page[64:], []string{"yes", "not"}[i/2%2])
	}
	counts := ends(rounds, flip, func() int { return forkStart(ptr(0), ptr(128), 0, uintptr(out)) })
	return noted(a.path+".counts", counts)
}

// renamed starts a shell as bin/a that prints its name, from memory that processes share, while
// a thread makes the path that of a link to it, and the name another one, each by itself.
func renamed(a, b name) error {
	rounds, _ := strconv.Atoi(filepath.Base(b.path))
	out, err := unix.Open(a.path, unix.O_CREAT|unix.O_WRONLY|unix.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer unix.Close(out)
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	at := map[int]string{0: "bin/a", 64: "a", 128: "-c", 192: "echo called $0", 256: "LD_SHOW_AUXV=1"}
	ptr := func(at int) uintptr { return uintptr(unsafe.Pointer(&page[at])) }
	for i, text := range at {
		copy(page[i:], text+"\x00")
	}
	vectors := (*[6]uintptr)(unsafe.Pointer(&page[512]))
	*vectors = [6]uintptr{ptr(64), ptr(128), ptr(192), 0, ptr(256), 0}
	flip := func(i int) {
		page[4] = "al"[i%2]
		page[64] = "ax"[i/2%2]
	}
	counts := ends(rounds, flip, func() int { return forkStart(ptr(0), ptr(512), ptr(512+4*8), uintptr(out)) })
	return noted(a.path+".counts", counts)
}

// forkStart clones this process and starts a program in the clone, with out as its standard
// output, reading everything from memory that other threads write to.
//
//go:norace
//go:noinline
//go:nosplit
func forkStart(file, argv, envp, out uintptr) int {
	pid, _, _ := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if pid == 0 {
		syscall.RawSyscall(unix.SYS_DUP3, out, 1, 0)
		syscall.RawSyscall(unix.SYS_EXECVE, file, argv, envp)
		for {
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 7, 0, 0)
		}
	}
	return int(pid)
}

// crowd starts programs from several threads, while another stops and continues those that run whenever one has started.
func crowd(a, b name) error {
	rounds, _ := strconv.Atoi(filepath.Base(b.path))
	const threads = 4
	var wg sync.WaitGroup
	var worst atomic.Value
	var running sync.Map
	started := make(chan bool)
	var stops sync.WaitGroup
	stops.Go(func() {
		for range started {
			running.Range(func(pid, _ any) bool {
				_ = unix.Kill(pid.(int), unix.SIGSTOP)
				_ = unix.Kill(pid.(int), unix.SIGCONT)
				return true
			})
		}
	})
	for n := range threads {
		wg.Go(func() {
			for i := range rounds {
				file := []string{"/bin/true", a.path}[(i+n)%2]
				pid, err := syscall.ForkExec(file, []string{file}, &syscall.ProcAttr{Files: []uintptr{0, 2, 2}, Env: os.Environ()})
				if err != nil {
					worst.Store(err)
					return
				}
				running.Store(pid, true)
				started <- true
				var ws syscall.WaitStatus
				_, _ = syscall.Wait4(pid, &ws, 0, nil)
				running.Delete(pid)
				if ws.Signaled() {
					worst.Store(error(syscall.ESRCH))
				}
			}
		})
	}
	wg.Wait()
	close(started)
	stops.Wait()
	err, _ := worst.Load().(error)
	return err
}

// ends starts processes one after the other, while a rival acts in another thread, and counts how
// they end. Before each eighth start the rival acts as at first and then rests, so that some start
// however seldom the scheduler lets them win.
func ends(rounds int, rival func(i int), start func() int) map[string]int {
	counts := map[string]int{}
	var turn sync.Mutex
	defer contend(&turn, rival)()
	for i := range rounds {
		var ws syscall.WaitStatus
		if i%8 == 0 {
			turn.Lock()
			rival(0)
			ws = waitFor(start())
			turn.Unlock()
		} else {
			ws = waitFor(start())
		}
		switch {
		case ws.Signaled():
			counts["killed"]++
		case ws.ExitStatus() == 0:
			counts["started"]++
		default:
			counts["refused"]++
		}
	}
	return counts
}

// noted leaves counts in a file.
func noted(file string, counts map[string]int) error {
	data, err := json.Marshal(counts)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// contend acts in another thread, with a lock held each time, until the caller ends that.
func contend(turn sync.Locker, rival func(i int)) (end func()) {
	var stop atomic.Bool
	var done sync.WaitGroup
	done.Go(func() {
		for i := 0; !stop.Load(); i++ {
			turn.Lock()
			rival(i)
			turn.Unlock()
			if i%16 == 0 {
				runtime.Gosched()
			}
		}
	})
	return func() {
		stop.Store(true)
		done.Wait()
	}
}

func waitFor(pid int) (ws syscall.WaitStatus) {
	for {
		if _, err := syscall.Wait4(pid, &ws, 0, nil); err != syscall.EINTR {
			return ws
		}
	}
}
