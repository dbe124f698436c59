package supervisor

import (
	"crypto/rand"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// POSIX message queues (mq_overview(7)) have names that all processes of a user share. A tool gets queues of its own
// run: the supervisor makes each under a name that nobody knows, removes the name at once, and keeps the names that the
// tool uses. A queue is gone with its last descriptor. The calls that use a queue name it by a descriptor, which a tool
// gets here alone, so they go on.
// See decision D418.

// maxQueues is how many queues with names a run has at most. The kernel bounds the memory of all of a user's
// (RLIMIT_MSGQUEUE).
const maxQueues = 64

// queueAttributes is the size of struct mq_attr (linux/mqueue.h).
const queueAttributes = 64

// queues are the message queues of a run that have a name: descriptors of the supervisor's by the tool's names.
type queues struct {
	mu    sync.Mutex
	named map[string]int
}

// queue answers the calls on message queues.
type queue struct{ *call }

// name reads the name of a queue, as the kernel takes it: without the slash that the C library removes.
func (c queue) name() (string, unix.Errno) {
	name, e := c.text(c.args[0], unix.NAME_MAX+1, unix.ENAMETOOLONG)
	switch {
	case e != 0:
		return "", e
	case name == "":
		return "", unix.ENOENT
	case strings.Contains(name, "/"), name == ".", name == "..":
		return "", unix.EACCES
	}
	return name, 0
}

// open opens or makes a queue, as mq_open(2) does.
func (c queue) open() answer {
	name, e := c.name()
	if e != 0 {
		return fails(e)
	}
	flags := int(uint32(c.args[1]))
	q := &c.queues
	q.mu.Lock()
	defer q.mu.Unlock()
	fd, found := q.named[name]
	switch {
	case found && flags&unix.O_CREAT != 0 && flags&unix.O_EXCL != 0:
		return fails(unix.EEXIST)
	case found:
		return c.opened(fd, flags)
	case flags&unix.O_CREAT == 0:
		return fails(unix.ENOENT)
	case len(q.named) >= maxQueues:
		return fails(unix.ENOSPC)
	case !c.current():
		return fails(unix.EINTR)
	}
	if fd, e = c.make(); e != 0 {
		return fails(e)
	}
	a := c.opened(fd, flags)
	// The mode is for later calls: who makes a queue has it open whatever the mode says.
	mode := uint32(c.args[2]) & 0o777 &^ uint32(c.creationMask())
	if a.errno != 0 || unix.Fchmod(fd, mode) != nil {
		_ = unix.Close(fd)
		return a
	}
	if q.named == nil {
		q.named = map[string]int{}
	}
	q.named[name] = fd
	return a
}

// make makes a queue with the attributes that the caller says.
func (c queue) make() (int, unix.Errno) {
	var attributes unsafe.Pointer
	if at := c.args[3]; at != 0 {
		buf, e := c.bytes(at, queueAttributes)
		if e != 0 {
			return -1, e
		}
		attributes = unsafe.Pointer(unsafe.SliceData(buf))
	}
	name, err := unix.BytePtrFromString("accessc-" + rand.Text())
	if err != nil {
		return -1, unix.EINVAL
	}
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_CLOEXEC
	fd, _, e := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), flags, 0o600, uintptr(attributes), 0, 0)
	if e != 0 {
		return -1, e
	}
	if _, _, e := unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0); e != 0 {
		_ = unix.Close(int(fd))
		return -1, e
	}
	return int(fd), 0
}

// opened hands out a queue, opened for the caller: flags such as O_NONBLOCK are its own.
func (c queue) opened(fd, flags int) answer {
	own, err := unix.Open(self(fd), flags&(unix.O_ACCMODE|unix.O_NONBLOCK)|unix.O_CLOEXEC, 0)
	if err != nil {
		return result(err)
	}
	return answer{hand: true, writes: true, fd: own, closeOn: flags&unix.O_CLOEXEC != 0}
}

// unlink removes the name of a queue.
func (c queue) unlink() answer {
	name, e := c.name()
	if e != 0 {
		return fails(e)
	}
	q := &c.queues
	q.mu.Lock()
	defer q.mu.Unlock()
	fd, found := q.named[name]
	switch {
	case !found:
		return fails(unix.ENOENT)
	case !c.current():
		return fails(unix.EINTR)
	}
	delete(q.named, name)
	return result(unix.Close(fd))
}

// close removes all names.
func (q *queues) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, fd := range q.named {
		_ = unix.Close(fd)
	}
	q.named = nil
}

// ofQueues are the handlers of calls on message queues.
func ofQueues() map[uint32]handler {
	by := func(queue) answer { return proceed }
	return map[uint32]handler{
		unix.SYS_MQ_OPEN:         on(queue.open),
		unix.SYS_MQ_UNLINK:       on(queue.unlink),
		unix.SYS_MQ_TIMEDSEND:    on(by),
		unix.SYS_MQ_TIMEDRECEIVE: on(by),
		unix.SYS_MQ_NOTIFY:       on(by),
		unix.SYS_MQ_GETSETATTR:   on(by),
	}
}
