package start_test

import (
	"errors"
	"fmt"
	"math/bits"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	attempts["failing"] = failing
	attempts["stolen"] = stolen
}

// blocked is how many signals this thread blocks.
func blocked() int {
	var mask unix.Sigset_t
	_ = unix.PthreadSigmask(unix.SIG_BLOCK, nil, &mask)
	n := 0
	for _, word := range mask.Val {
		n += bits.OnesCount64(uint64(word))
	}
	return n
}

// failing tries, many times, to replace this process by a file that cannot be started, and
// checks that the attempts leave no trace.
func failing(a, b name) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	rounds, _ := strconv.Atoi(filepath.Base(b.path))
	before, mask := descriptors(), blocked()
	var last error
	for range rounds {
		err := syscall.Exec(a.path, []string{a.path, "x"}, nil)
		if last != nil && !errors.Is(err, last) {
			return fmt.Errorf("once %w, once %w", last, err)
		}
		last = err
	}
	if !slices.Equal(before, descriptors()) || mask != blocked() {
		return fmt.Errorf("descriptors %v, %d signals are blocked", descriptors(), blocked())
	}
	return last
}

// stolen starts bin/a with "yes" in clones that have their descriptors in common with this
// process, while a thread makes every free one the program /bin/pwd.
func stolen(a, b name) error {
	rounds, _ := strconv.Atoi(filepath.Base(b.path))
	if err := noted(a.path+".counts", nil); err != nil { // so that the Go runtime has all of its descriptors
		return err
	}
	out, err := unix.Open(a.path, unix.O_CREAT|unix.O_WRONLY|unix.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer unix.Close(out)
	stdout, err := unix.Dup(1)
	if err != nil {
		return err
	}
	defer unix.Close(stdout)
	_ = unix.Dup3(out, 1, 0)
	defer func() { _ = unix.Dup3(stdout, 1, 0) }()
	other, err := unix.Open("/bin/pwd", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(other)
	text := []byte("bin/a\x00yes\x00")
	argv := [3]uintptr{uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(&text[6]))}
	var free []int
	const most = 40
	for fd, taken := 0, descriptors(); fd < most; fd++ {
		if !slices.Contains(taken, strconv.Itoa(fd)) {
			free = append(free, fd)
		}
	}
	thief := func(int) {
		for _, fd := range free {
			_, _, _ = syscall.RawSyscall(unix.SYS_DUP3, uintptr(other), uintptr(fd), unix.O_CLOEXEC)
			_, _, _ = syscall.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
		}
	}
	counts := ends(rounds, thief, func() int { return cloneStart(argv[0], uintptr(unsafe.Pointer(&argv[0]))) })
	runtime.KeepAlive(text)
	return noted(a.path+".counts", counts)
}

// cloneStart is forkStart for a clone that has its descriptors in common with this process.
//
//go:norace
//go:noinline
//go:nosplit
func cloneStart(file, argv uintptr) int {
	pid, _, _ := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD|unix.CLONE_FILES), 0, 0, 0, 0, 0)
	if pid == 0 {
		syscall.RawSyscall(unix.SYS_EXECVE, file, argv, 0)
		for {
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 7, 0, 0)
		}
	}
	return int(pid)
}
