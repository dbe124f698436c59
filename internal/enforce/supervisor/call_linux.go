package supervisor

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/process/once"
)

// call is one trapped system call. Types that embed it answer the calls of one kind: opens,
// entries, metadata, moves, programs, sockets, processes and rulesets.
type call struct {
	*Supervisor
	caller
	decision
	// policy judges this call.
	policy *judge
	// paths resolves paths as the caller sees them.
	paths  resolver
	worker *worker
	id     uint64
	nr     uint32
	args   [6]uint64
	// known is the path that its second argument leads to, once the worker has read it.
	known string
	// shares is true while the call holds the working directory and umask that threads share.
	shares bool
}

// newCall is a call that a thread makes.
func (s *Supervisor) newCall(w *worker, n *notification) *call {
	c := &call{Supervisor: s, policy: s.policy, worker: w, id: n.id, nr: uint32(n.nr), args: n.args,
		caller: caller{box: &s.sandbox, tid: int(n.pid)}, decision: decision{keeps: s.used != nil || s.judged != nil}}
	c.paths = resolver{caller: &c.caller, decision: &c.decision}
	return c
}

// caller is the thread that makes a call. The descriptors that it holds are closed when the
// call is answered.
type caller struct {
	box  *sandbox
	tid  int
	held []int
	// domain holds the Landlock rulesets by which the caller has restricted itself.
	domain *domain
	// mask is the caller's file mode creation mask, once it has been read.
	mask *int
	// asked holds the paths as the tool spelled them.
	asked []string
}

// hold keeps a descriptor until the call is answered.
func (c *caller) hold(fd int) int {
	c.held = append(c.held, fd)
	return fd
}

func (c *call) release() {
	if c.shares {
		c.common.Unlock()
	}
	closeAll(c.held)
	c.shares, c.held = false, nil
}

// closeAll closes descriptors. One call closes all that have consecutive numbers, as they have where one worker
// opens them.
func closeAll(fds []int) {
	for len(fds) > 0 {
		n := 1
		for n < len(fds) && fds[n] == fds[n-1]+1 {
			n++
		}
		if n == 1 || unix.CloseRange(uint(fds[0]), uint(fds[n-1]), 0) != nil {
			for _, fd := range fds[:n] {
				_ = unix.Close(fd)
			}
		}
		fds = fds[n:]
	}
}

// current reports whether the call is still pending; see listener.pending.
func (c *call) current() bool { return c.listener.pending(c.id) }

// dirfd converts a directory argument as the kernel does.
func dirfd(arg uint64) int { return int(int32(uint32(arg))) }

// proc is a path of the calling thread below /proc. Threads have descriptor tables and
// directories of their own if they asked for it (unshare(2)).
func (c *caller) proc(what string) string { return strconv.Itoa(c.tid) + "/" + what }

// base opens the directory that a path starts from. An absolute path starts from the root.
func (r *resolver) base(fd int, path string) (int, unix.Errno) {
	if strings.HasPrefix(path, "/") {
		return r.box.root, 0
	}
	if fd == unix.AT_FDCWD {
		dir, err := unix.Openat(r.box.procfs, r.proc("cwd"), unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, unix.EACCES
		}
		return r.hold(dir), 0
	}
	return r.descriptor(fd)
}

// descriptor opens the file behind a descriptor of the tool with O_PATH, whatever the mode of
// that descriptor.
func (c *caller) descriptor(fd int) (int, unix.Errno) {
	if fd < 0 {
		return -1, unix.EBADF
	}
	obj, err := unix.Openat(c.box.procfs, c.proc("fd/"+strconv.Itoa(fd)), unix.O_PATH|unix.O_CLOEXEC, 0)
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
func (c *caller) duplicate(fd int) (int, unix.Errno) {
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
func status(pid int, field string) string {
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

// signalled reports whether the caller has a signal to handle, for which the kernel does not interrupt a call that the
// supervisor holds (child_linux.go, filterFlags).
func (c *caller) signalled() bool {
	set := func(field string) uint64 {
		n, _ := strconv.ParseUint(status(c.tid, field), 16, 64)
		return n
	}
	return (set("SigPnd")|set("ShdPnd"))&^set("SigBlk") != 0
}

// process is the thread group of the caller, 0 if it is gone.
func (c *caller) process() int {
	n, _ := strconv.Atoi(status(c.tid, "Tgid"))
	return n
}

// ours reports whether a process or thread belongs to the tool: by its mark or, where processes
// cannot be marked, as a descendant of this process, which is the reaper of all orphans among
// them.
func (s *sandbox) ours(pid int) bool {
	if pid == s.self || pid == s.proxy {
		return false
	}
	if s.marks != nil {
		m, marked, err := markOf(pid)
		return err == nil && marked && s.marks.holds(m)
	}
	for range 1 << 16 {
		switch {
		case pid == s.self:
			return true
		case pid <= 1:
			return false
		}
		up, err := strconv.Atoi(status(pid, "PPid"))
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
func (c *caller) creationMask() int {
	if c.mask == nil {
		mask, err := strconv.ParseUint(status(c.tid, "Umask"), 8, 32)
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
	if c.Supervisor.shares.Load() && !c.shares {
		c.common.Lock()
		c.shares = true
	}
}

// self is the path of one of the supervisor's own descriptors, for system calls that only take
// a path. It leads to the very file that the descriptor refers to.
func self(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// descriptors is the directory behind self, -1 if it cannot be opened: a name in it is found in
// half the time that the whole path takes.
func descriptors() int {
	return descriptorsOnce.Get(func() int {
		fd, err := unix.Open("/proc/self/fd", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil || !isProc(fd, false) {
			return -1
		}
		return fd
	})
}

var descriptorsOnce once.Value[int]

// nameOf is the kernel's name of the file behind a descriptor.
func nameOf(fd int) (string, error) { return readlink(descriptors(), strconv.Itoa(fd)) }

// reopened opens the very file that a descriptor refers to.
func reopened(fd, flags int, mode uint32) (int, error) {
	return unix.Openat(descriptors(), strconv.Itoa(fd), flags, mode)
}
