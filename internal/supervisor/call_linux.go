package supervisor

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// call is one trapped system call. Its descriptors are closed when it is answered.
type call struct {
	*Broker
	worker *worker
	id     uint64
	tid    int
	nr     uint32
	args   [6]uint64
	held   []int
	// shares is true while the call holds the working directory and umask that threads share.
	shares bool
	// domain holds the Landlock rulesets by which the caller has restricted itself.
	domain *domain
	// mask is the caller's file mode creation mask, once it has been read.
	mask *int
	// asked holds the paths as the tool spelled them, refused the reason for a refusal.
	asked   []string
	refused *grounds
}

// hold keeps a descriptor until the call is answered.
func (c *call) hold(fd int) int {
	c.held = append(c.held, fd)
	return fd
}

func (c *call) release() {
	if c.shares {
		c.common.Unlock()
	}
	for _, fd := range c.held {
		_ = unix.Close(fd)
	}
}

// current reports whether the call is still pending; see listener.pending.
func (c *call) current() bool { return c.listener.pending(c.id) }

// dirfd converts a directory argument as the kernel does.
func dirfd(arg uint64) int { return int(int32(uint32(arg))) }

// proc is a path of the calling thread below /proc. Threads have descriptor tables and
// directories of their own if they asked for it (unshare(2)).
func (c *call) proc(what string) string { return strconv.Itoa(c.tid) + "/" + what }

// base opens the directory that a path starts from. An absolute path starts from the root.
func (c *call) base(fd int, path string) (int, unix.Errno) {
	if strings.HasPrefix(path, "/") {
		return c.root, 0
	}
	if fd == unix.AT_FDCWD {
		dir, err := unix.Openat(c.procfs, c.proc("cwd"), unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, unix.EACCES
		}
		return c.hold(dir), 0
	}
	return c.descriptor(fd)
}

// descriptor opens the file behind a descriptor of the tool with O_PATH, whatever the mode of
// that descriptor.
func (c *call) descriptor(fd int) (int, unix.Errno) {
	if fd < 0 {
		return -1, unix.EBADF
	}
	obj, err := unix.Openat(c.procfs, c.proc("fd/"+strconv.Itoa(fd)), unix.O_PATH|unix.O_CLOEXEC, 0)
	switch {
	case err == unix.ENOENT:
		return -1, unix.EBADF
	case err != nil:
		return -1, unix.EACCES
	}
	return c.hold(obj), 0
}

// duplicate returns a duplicate of a descriptor of the tool, mode and offset included. A pidfd
// names a whole process, and the thread may have a descriptor table of its own, so duplicate
// compares the file with the thread's.
func (c *call) duplicate(fd int) (int, unix.Errno) {
	if fd < 0 {
		return -1, unix.EBADF
	}
	process, err := unix.PidfdOpen(c.process(), 0)
	if err != nil {
		return -1, unix.EACCES
	}
	defer unix.Close(process)
	dup, err := unix.PidfdGetfd(process, fd, 0)
	if err == unix.EBADF {
		return -1, unix.EBADF
	}
	if err != nil {
		return -1, unix.EACCES
	}
	c.hold(dup)
	own, e := c.descriptor(fd)
	if e != 0 {
		return -1, e
	}
	var a, b unix.Stat_t
	if unix.Fstat(dup, &a) != nil || unix.Fstat(own, &b) != nil || a.Dev != b.Dev || a.Ino != b.Ino {
		return -1, unix.EBADF
	}
	return dup, 0
}

// status returns a field of /proc/PID/status (proc_pid_status(5)), empty if it cannot
// be read.
func (b *Broker) status(pid int, field string) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return ""
	}
	_, rest, ok := bytes.Cut(data, []byte("\n"+field+":"))
	if !ok {
		return ""
	}
	value, _, _ := bytes.Cut(rest, []byte("\n"))
	return strings.TrimSpace(string(value))
}

// process is the thread group of the caller, 0 if it is gone.
func (c *call) process() int {
	n, _ := strconv.Atoi(c.status(c.tid, "Tgid"))
	return n
}

// ours reports whether a process or thread belongs to the tool: by its mark or, where processes
// cannot be marked, as a descendant of this process, which is the reaper of all orphans among
// them.
func (b *Broker) ours(pid int) bool {
	if pid == b.self {
		return false
	}
	if b.marks != nil {
		m, marked, err := markOf(pid)
		return err == nil && marked && b.marks.holds(m)
	}
	for range 1 << 16 {
		switch {
		case pid == b.self:
			return true
		case pid <= 1:
			return false
		}
		up, err := strconv.Atoi(b.status(pid, "PPid"))
		if err != nil {
			return false
		}
		pid = up
	}
	return false
}

// umask makes the caller's file mode creation mask this thread's, so that the kernel
// applies it, or the default list of a directory in its place (umask(2), acl(5)).
func (c *call) umask() {
	c.alone()
	unix.Umask(c.creationMask())
}

// creationMask is the caller's file mode creation mask.
func (c *call) creationMask() int {
	if c.mask == nil {
		mask, err := strconv.ParseUint(c.status(c.tid, "Umask"), 8, 32)
		if err != nil {
			mask = 0o777
		}
		c.mask = new(int)
		*c.mask = int(mask)
	}
	return *c.mask
}

// alone reserves the working directory and the umask for this call until it is answered.
func (c *call) alone() {
	if c.Broker.shares.Load() && !c.shares {
		c.common.Lock()
		c.shares = true
	}
}

// self is the path of one of the supervisor's own descriptors, for system calls that only take
// a path. It leads to the very file that the descriptor refers to.
func self(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
