package start_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start"
)

// everyRight is the set of rights that this kernel has for files.
func everyRight() uint64 {
	return landlock.Handled(landlock.Levels(), min(start.ABI(), landlock.MaxABI)).FS
}

// ownRuleset makes a ruleset that denies everything but changes below one directory, and
// reading below another where that is not empty.
func ownRuleset(all, read string) (int, error) {
	fd, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{HandledAccessFS: everyRight()}, 0)
	if err == nil {
		err = allowBelow(fd, all, everyRight())
	}
	if err == nil && read != "" {
		err = allowBelow(fd, read, landlock.FSMask([]landlock.Right{landlock.ReadFile, landlock.ReadDir, landlock.Execute}))
	}
	return fd, err
}

func allowBelow(ruleset int, dir string, access uint64) error {
	at, err := unix.Open(dir, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	return ll.LandlockAddPathBeneathRule(ruleset, &ll.PathBeneathAttr{AllowedAccess: access, ParentFd: at}, 0)
}

// restrictAll restricts every thread of this process. With cgo, as under the race
// detector, the runtime cannot do that, and this thread does all the work.
func restrictAll(ruleset int) error {
	_, _, e := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0)
	if e == unix.ENOTSUP {
		runtime.LockOSThread()
		return ll.LandlockRestrictSelf(ruleset, 0)
	}
	if e != 0 {
		return e
	}
	return nil
}

// own is the ruleset by which the worker has restricted itself.
var own int

// becomeBound restricts this process and works.
func becomeBound(part string) {
	var err error
	switch part {
	case modeBound:
		own, err = ownRuleset("/", "")
	case modeConfined:
		if own, err = ownRuleset("docs", "/"); err == nil {
			err = allowBelow(own, "src/generated", everyRight())
		}
	default:
		own, err = ownRuleset("docs", "")
	}
	if err == nil {
		err = restrictAll(own)
	}
	if err == nil && part == modeSwapping {
		err = swap()
	}
	if err != nil {
		fmt.Fprintln(stderr, "own ruleset:", err)
		os.Exit(1)
	}
	work(os.Stdin, os.Stdout)
	leaveNow()
}

// swap restricts a thread further while another one exchanges the ruleset under its number for
// one that permits everything, and back.
func swap() error {
	all, err := ownRuleset("/", "")
	if err != nil {
		return err
	}
	meant, err := ownRuleset("docs", "")
	if err != nil {
		return err
	}
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; !stop.Load(); i++ {
			_ = unix.Dup3([]int{own, all}[i%2], meant, unix.O_CLOEXEC)
			runtime.Gosched()
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range 200 {
		_ = ll.LandlockRestrictSelf(meant, 0)
	}
	stop.Store(true)
	<-done
	return nil
}

// child has a child write to a file.
func child(path string) error {
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "sh -c ': >> " + path + "' 2>&-"}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
	if err != nil {
		return err
	}
	var ws syscall.WaitStatus
	if _, err = syscall.Wait4(pid, &ws, 0, nil); err == nil && ws != 0 {
		return syscall.EACCES
	}
	return err
}

func init() {
	for op, do := range map[string]func(a, b name) error{
		"ruleset": func(a, _ name) error { return close2(ownRuleset(a.path, "")) },
		// again restricts the worker once more.
		"again": func(a, _ name) error {
			if err := os.Mkdir(a.path, 0o755); err != nil {
				return err
			}
			fd, err := ownRuleset(a.path, "/")
			if err == nil {
				err = restrictAll(fd)
			}
			return err
		},
		"widen": func(_, _ name) error { return allowBelow(own, "/", everyRight()) },
		"unmark": func(_, _ name) error {
			return unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: 1 << 62, Max: 1 << 62})
		},
		"lower": func(_, _ name) error { return lower() },
		"child": func(a, _ name) error { return child(a.path) },
		// parent names a file by the directory of a process that its ruleset does not bind.
		"parent": func(a, _ name) error {
			return unix.Chmod("/proc/"+strconv.Itoa(os.Getppid())+"/cwd/"+a.path, 0o644)
		},
	} {
		attempts[op] = do
	}
}

// lower takes one from each of the limits by which processes are marked.
func lower() error {
	for _, resource := range []int{unix.RLIMIT_LOCKS, unix.RLIMIT_RSS} {
		var l unix.Rlimit
		if err := unix.Getrlimit(resource, &l); err != nil {
			return err
		}
		l = unix.Rlimit{Cur: min(l.Cur, l.Max-1), Max: l.Max - 1}
		if err := unix.Setrlimit(resource, &l); err != nil {
			return err
		}
	}
	return nil
}
