package start_test

import (
	"fmt"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openQueue opens a POSIX message queue of four messages of 16 bytes.
func openQueue(name string, flags, mode int) (uintptr, syscall.Errno) {
	text, err := unix.BytePtrFromString(name)
	if err != nil {
		return 0, unix.EINVAL
	}
	attributes := [8]int64{0, 4, 16} // struct mq_attr
	fd, _, e := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(text)), uintptr(flags), uintptr(mode),
		uintptr(unsafe.Pointer(&attributes)), 0, 0)
	return fd, e
}

// unlinkQueue removes the name of a queue.
func unlinkQueue(name string) syscall.Errno {
	text, err := unix.BytePtrFromString(name)
	if err != nil {
		return unix.EINVAL
	}
	_, _, e := unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(text)), 0, 0)
	return e
}

// pass sends a message, or takes it: the answer to a message that is there is its first byte.
func pass(fd uintptr, receive bool) syscall.Errno {
	var text [16]byte
	if receive {
		if _, _, e := unix.Syscall6(unix.SYS_MQ_TIMEDRECEIVE, fd, uintptr(unsafe.Pointer(&text)), 16, 0, 0, 0); e != 0 {
			return e
		}
		return syscall.Errno(objectBase + int(text[0]))
	}
	text[0] = 7
	_, _, e := unix.Syscall6(unix.SYS_MQ_TIMEDSEND, fd, uintptr(unsafe.Pointer(&text)), 1, 0, 0, 0)
	return e
}

func init() {
	attempts["queue"] = func(a, _ name) error {
		var verb, name string
		var flags, mode int
		if _, err := fmt.Sscan(a.path, &verb, &name, &flags, &mode); err != nil {
			return err
		}
		e := syscall.Errno(0)
		if verb == "unlink" {
			e = unlinkQueue(name)
		} else {
			var fd uintptr
			if fd, e = openQueue(name, flags|unix.O_NONBLOCK, mode); e == 0 {
				if verb != "open" {
					e = pass(fd, verb == "receive")
				}
				_ = unix.Close(int(fd))
			}
		}
		if e != 0 {
			return e
		}
		return nil
	}
}

// TestQueues: a supervised tool has POSIX message queues of its own run, by names that a queue of the host may have,
// too. Its processes find each other's by name, and after the run none is left. Before, each call was refused.
func TestQueues(t *testing.T) {
	t.Parallel()
	const shared, own = "accessc-test-shared", "accessc-test-own"
	fd, e := openQueue(shared, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o666)
	if e != 0 {
		t.Skip("the host makes no queues: ", e)
	}
	t.Cleanup(func() {
		_ = unix.Close(int(fd))
		unlinkQueue(shared)
	})
	x := passing(t, nil)
	defer x.stop()
	const made = unix.O_RDWR | unix.O_CREAT
	for _, step := range []struct {
		verb, name  string
		flags, mode int
		want        syscall.Errno
	}{
		{"open", shared, unix.O_RDWR, 0, unix.ENOENT},
		{"unlink", shared, 0, 0, unix.ENOENT},
		{"open", "a/b", made, 0o600, unix.EACCES},
		{"open", shared, made | unix.O_EXCL, 0o600, 0},
		{"open", shared, made | unix.O_EXCL, 0o600, unix.EEXIST},
		{"receive", shared, unix.O_RDWR, 0, unix.EAGAIN},
		{"send", shared, unix.O_WRONLY, 0, 0},
		{"send", shared, unix.O_RDONLY, 0, unix.EBADF},
		{"receive", shared, unix.O_RDONLY, 0, objectBase + 7},
		{"unlink", shared, 0, 0, 0},
		{"open", shared, unix.O_RDWR, 0, unix.ENOENT},
		{"send", own, made, 0o600, 0},
	} {
		question := fmt.Sprintf("%s %s %d %d", step.verb, step.name, step.flags, step.mode)
		if got := x.exchange(t, attempt{Op: "queue", A: question})[0]; got != step.want {
			t.Errorf("%s: %v, want %v", question, got, step.want)
		}
	}
	var info [8]int64
	if _, _, e := unix.Syscall(unix.SYS_MQ_GETSETATTR, fd, 0, uintptr(unsafe.Pointer(&info))); e != 0 || info[3] != 0 {
		t.Errorf("the host's queue has %d messages: %v", info[3], e)
	}
	x.stop()
	if _, e := openQueue(own, unix.O_RDWR, 0); e != unix.ENOENT {
		t.Errorf("the tool's queue is there for the host: %v", e)
	}
}
