package start_test

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// race opens, again and again, a path that another thread or process makes lead to a denied
// file and back. It ends in EEXIST once it has read or written a denied file, and in errMet if some opens came through and
// some did not.
func race(a, b name) error {
	kind := filepath.Base(a.path)
	rounds, _ := strconv.Atoi(filepath.Base(b.path))
	path := append([]byte("./docs/a"), 0)
	dir, err := unix.Open("docs", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var stop atomic.Bool
	var flips sync.WaitGroup
	flips.Add(1)
	swap := map[string]func(i int){
		"path": func(i int) { copy(path, [][]byte{[]byte("./docs/a"), []byte(".///.env")}[i%2]) },
		"link": func(i int) {
			_ = os.Symlink([]string{"docs/a", ".env"}[i%2], "next")
			_ = os.Rename("next", "race")
		},
		"descriptor": func(i int) {
			other, err := unix.Open([]string{"docs", "src"}[i%2], unix.O_PATH|unix.O_CLOEXEC, 0)
			if err == nil {
				_ = unix.Dup3(other, dir, unix.O_CLOEXEC)
				_ = unix.Close(other)
			}
		},
	}[kind]
	go func() {
		defer flips.Done()
		for i := 0; !stop.Load(); i++ {
			swap(i)
			runtime.Gosched()
		}
	}()
	defer func() { stop.Store(true); flips.Wait() }()
	if kind == "link" {
		path = append([]byte("race"), 0)
	}
	through := 0
	for i := range rounds {
		at, name, flags := unix.AT_FDCWD, path, unix.O_RDWR
		if kind == "descriptor" {
			// src/main.c may be read; created, written or truncated it may not be.
			at, name, flags = dir, append([]byte("main.c"), 0), unix.O_RDWR|unix.O_CREAT
		} else if i%2 == 0 {
			flags = unix.O_RDONLY
		}
		fd, _, e := syscall.Syscall6(unix.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(&name[0])), uintptr(flags|unix.O_CLOEXEC), 0o600, 0, 0)
		if e != 0 {
			continue
		}
		if denied(int(fd)) {
			return syscall.EEXIST
		}
		_ = unix.Close(int(fd))
		through++
	}
	if through > 0 && through < rounds {
		return errMet
	}
	return nil
}

// errMet is the answer to a race that was met.
const errMet = syscall.Errno(253)

// denied reports whether a descriptor reads a denied file, or would write to a read-only one.
func denied(fd int) bool {
	buf := make([]byte, 64)
	n, _ := unix.Pread(fd, buf, 0)
	text := string(buf[:max(n, 0)])
	return text == secret || text == "kept"
}

// storm makes trapped calls from many threads at once.
func storm(a, _ name) error {
	const threads, calls = 150, 15
	errs := make(chan error, threads)
	for i := range threads {
		go func() {
			runtime.LockOSThread()
			for n := range calls {
				file := fmt.Sprintf("%s/storm-%d-%d", a.path, i, n)
				if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
					errs <- err
					return
				}
				if err := os.Remove(file); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range threads {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// fifos waits in more opens than the supervisor has workers; other calls go on, and each fifo
// that gets its other end is opened.
func fifos(a, _ name) error {
	const many = 150
	opened := make(chan error, many)
	for i := range many {
		file := fmt.Sprintf("%s/fifo-%d", a.path, i)
		if err := unix.Mkfifo(file, 0o600); err != nil {
			return err
		}
		go func() {
			fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err == nil {
				err = unix.Close(fd)
			}
			opened <- err
		}()
	}
	if err := os.WriteFile(a.path+"/between", nil, 0o600); err != nil {
		return err
	}
	done := 0
	for i := 0; done < many; i = (i + 1) % many {
		// A reader that was turned away because there were too many is not there (ENXIO).
		fd, err := unix.Open(fmt.Sprintf("%s/fifo-%d", a.path, i), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		select {
		case err := <-opened:
			if err != nil && err != unix.EAGAIN {
				return err
			}
			done++
		default:
		}
	}
	return nil
}

// interrupted makes and removes names under a rain of signals: a call that was carried
// out must not be begun again.
func interrupted(a, b name) error {
	rounds, _ := strconv.Atoi(filepath.Base(b.path))
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, unix.SIGUSR1)
	defer signal.Stop(caught)
	var stop atomic.Bool
	defer stop.Store(true)
	go func() {
		for !stop.Load() {
			_ = unix.Kill(os.Getpid(), unix.SIGUSR1)
		}
	}()
	for i := range rounds {
		dir := fmt.Sprintf("%s/signal-%d", a.path, i)
		if err := unix.Mkdir(dir, 0o700); err != nil {
			return err
		}
		if err := unix.Rmdir(dir); err != nil {
			return err
		}
	}
	return nil
}

// numbers opens one file many times; EEXIST where a descriptor is one of the first
// three, which are taken.
func numbers(a, b name) error {
	rounds, _ := strconv.Atoi(filepath.Base(b.path))
	for range rounds {
		fd, err := unix.Open(a.path, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		if fd < 3 {
			return syscall.EEXIST
		}
		_ = unix.Close(fd)
	}
	return nil
}
