package supervisor

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// callers knows the threads whose calls a worker has answered last: to find out the process of a thread takes as long
// as to judge its call. A descriptor of a thread's file in /proc is about no later thread with the same number
// (get_proc_task() in fs/proc/internal.h).
type callers struct {
	open map[int]knownCaller
	name [64]byte
}

type knownCaller struct{ comm, process int }

// maxCallersKept bounds the threads that are kept.
const maxCallersKept = 8

// of is the process of a thread that waits for an answer, and its name (proc(5), comm); 0 if it is gone.
func (c *callers) of(procfs, tid int) (process int, name string) {
	known, ok := c.open[tid]
	if ok {
		if n, err := unix.Pread(known.comm, c.name[:], 0); err == nil {
			return known.process, string(bytes.TrimSuffix(c.name[:n], []byte{'\n'}))
		}
		_ = unix.Close(known.comm)
		delete(c.open, tid)
	}
	fd, err := unix.Openat(procfs, strconv.Itoa(tid)+"/comm", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, ""
	}
	if len(c.open) >= maxCallersKept {
		c.close()
	}
	if c.open == nil {
		c.open = map[int]knownCaller{}
	}
	process, _ = strconv.Atoi(status(tid, "Tgid"))
	c.open[tid] = knownCaller{fd, process}
	n, _ := unix.Pread(fd, c.name[:], 0)
	return process, string(bytes.TrimSuffix(c.name[:max(n, 0)], []byte{'\n'}))
}

func (c *callers) close() {
	for _, k := range c.open {
		_ = unix.Close(k.comm)
	}
	c.open = nil
}
