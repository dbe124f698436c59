package start_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// shared is a directory with a copy of this program where every user may start it, and how it came to be.
var shared struct {
	sync.Once
	dir string
	err error
}

// binary is that copy.
var binary string

// sharedProgram makes the copy, once for all tests.
func sharedProgram(t *testing.T) {
	t.Helper()
	shared.Do(func() {
		if shared.dir, shared.err = os.MkdirTemp("", "accessc-program-"); shared.err != nil {
			return
		}
		if shared.err = os.Chmod(shared.dir, 0o755); shared.err == nil {
			binary = filepath.Join(shared.dir, "tool.test")
			shared.err = copyFile(os.Args[0], binary)
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
}

// dropPrograms removes what the tests share.
func dropPrograms() {
	if shared.dir != "" {
		_ = os.RemoveAll(shared.dir)
	}
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeProgram(to, data)
}

// writeProgram makes or replaces the contents of a file that is to be started.
func writeProgram(file string, data []byte) error {
	return fillProgram(file, os.O_CREATE|os.O_TRUNC, data)
}

// fillProgram writes a file that is to be started while this process starts none. A process that is being started holds
// what is open here until it becomes its program, and the kernel starts no file that a process has open to write to
// (ETXTBSY in execve(2)).
func fillProgram(file string, flags int, data []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f, err := os.OpenFile(file, os.O_WRONLY|flags, 0o755)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// workspace makes the directory of a test, and the program that every user may start.
func workspace(t *testing.T) string {
	t.Helper()
	sharedProgram(t)
	base, err := os.MkdirTemp("", "accessc-kernel-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	scatter(base)
	return base
}

// scatter has ext4 take the directories below for unrelated, and put each where few files
// were lately removed: it passes over the numbers of those one by one to make another
// (recently_deleted() and find_group_orlov() in fs/ext4/ialloc.c), which was a third of
// the time. Other file systems refuse it.
func scatter(dir string) {
	const topdir = 0x20000 // FS_TOPDIR_FL in include/uapi/linux/fs.h
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS); err == nil {
		_ = unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(flags|topdir))
	}
}
