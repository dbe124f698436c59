package supervisor

import (
	"encoding/binary"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/process/points"
)

// rulesets answers the calls by which the tool restricts itself.
type rulesets struct{ *call }

// createRuleset lets a ruleset be made, which by itself does nothing. Where it could not come
// in force later, callers learn at once that there is no Landlock.
func (c rulesets) createRuleset() answer {
	if c.domains == nil {
		return fails(unix.EOPNOTSUPP)
	}
	return proceed
}

// ruleset duplicates a ruleset of the calling thread, which may have a descriptor table of its
// own. The kernel answers EBADFD for other files.
func (c rulesets) ruleset(arg uint64) (int, unix.Errno) {
	fd, e := c.duplicate(dirfd(arg))
	if e == 0 && !sameFile(c.tid, dirfd(arg), fd) {
		e = unix.EBADF
	}
	return fd, e
}

// Attributes of rules (include/uapi/linux/landlock.h): their sizes by kind, and where the
// descriptor of a path is.
const (
	ruleNetPort = 2
	parentAt    = 8
)

// ruleSize is the size of a rule's attributes, by its type (include/uapi/linux/landlock.h).
func ruleSize(kind uint64) (size int, ok bool) {
	switch kind {
	case unix.LANDLOCK_RULE_PATH_BENEATH:
		return 12, true
	case ruleNetPort:
		return 16, true
	}
	return 0, false
}

// addRule adds a rule in the caller's place, so that none is added to a ruleset in force: the
// supervisor would have to act by the ruleset as it was then.
func (c rulesets) addRule() answer {
	size, ok := ruleSize(c.args[1])
	if c.domains == nil || !ok {
		return fails(unix.EINVAL)
	}
	attr, e := c.bytes(c.args[2], size)
	if e != 0 {
		return fails(e)
	}
	ruleset, e := c.ruleset(c.args[0])
	if e != 0 {
		return fails(e)
	}
	if c.args[1] == unix.LANDLOCK_RULE_PATH_BENEATH {
		obj, e := c.descriptor(int(int32(binary.NativeEndian.Uint32(attr[parentAt:]))))
		if e != 0 {
			return fails(e)
		}
		binary.NativeEndian.PutUint32(attr[parentAt:], uint32(obj))
	}
	c.domains.mu.RLock()
	defer c.domains.mu.RUnlock()
	switch {
	case c.domains.frozen(ruleset):
		return c.denies(unix.EPERM, "a ruleset that is in force stays as it is")
	case !c.current():
		return fails(unix.EINTR)
	}
	_, _, e = unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), uintptr(c.args[1]),
		uintptr(unsafe.Pointer(&attr[0])), uintptr(c.args[3]), 0, 0)
	return fails(e)
}

// restrictFlags are the flags that concern only the calling process.
const restrictFlags = unix.LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF | unix.LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON |
	unix.LANDLOCK_RESTRICT_SELF_LOG_SUBDOMAINS_OFF | unix.LANDLOCK_RESTRICT_SELF_TSYNC

// restrict lets the caller restrict itself, once its process is marked. Another thread may put
// another ruleset under the same number meanwhile: then the kernel bounds the caller by that
// ruleset and the supervisor by this ruleset, both in addition to the rulesets in force before.
func (c rulesets) restrict() answer {
	switch {
	case c.domains == nil:
		return fails(unix.EOPNOTSUPP)
	case uint32(c.args[1])&^restrictFlags != 0:
		return fails(unix.EINVAL)
	case dirfd(c.args[0]) == -1:
		return proceed // sets logging only, and restricts no thread
	}
	ruleset, e := c.ruleset(c.args[0])
	if e != 0 {
		return fails(e)
	}
	c.domains.mu.Lock()
	defer c.domains.mu.Unlock()
	above, ok := c.domains.of(c.tid)
	switch {
	case !ok || !c.current():
		return fails(unix.EACCES)
	case above.binds() && sameFile(c.box.self, int(above.ruleset.Fd()), ruleset):
		// Threads restrict themselves one after the other.
		return proceed
	}
	return c.nest(above, ruleset)
}

// nest marks the caller's process with one ruleset more, after trying whether the kernel takes
// it.
func (c rulesets) nest(above *domain, ruleset int) answer {
	d := c.domains
	if len(d.by) >= maxDomains {
		d.collect()
	}
	kept, err := unix.FcntlInt(uintptr(ruleset), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return fails(unix.ENOMEM)
	}
	file := os.NewFile(uintptr(kept), "ruleset")
	next := above.below(file)
	if next == nil || len(d.by) >= maxDomains {
		_ = file.Close()
		return fails(unix.E2BIG)
	}
	if err := c.within(next, func() error { return nil }); err != nil {
		_ = file.Close()
		return result(err)
	}
	d.by[next.mark] = next
	d.used.Store(true)
	if next.mark.put(c.tid) != nil {
		return fails(unix.EOPNOTSUPP)
	}
	return proceed
}

// bounded finds out which rulesets bind the caller. They stay the same until its call is
// answered: even a thread that restricts all threads of its process waits for the threads that
// are in the kernel (LANDLOCK_RESTRICT_SELF_TSYNC).
func (c *call) bounded() bool {
	if c.domains == nil || !c.domains.used.Load() {
		return true
	}
	c.domains.mu.RLock()
	defer c.domains.mu.RUnlock()
	var ok bool
	c.domain, ok = c.domains.of(c.tid)
	if !ok {
		c.deny("the limits were changed by which a process and its rulesets are known")
	}
	return ok && c.current()
}

// do acts in the caller's place, under the rulesets that bind the caller.
func (c *call) do(act func() error) error {
	points.Reach(points.Acting)
	if !c.domain.binds() {
		return act()
	}
	// creationMask reads /proc, which the rulesets may not let be read.
	c.creationMask()
	return c.within(c.domain, act)
}

// within acts on a thread of a domain: an idle thread, or a new thread.
// See decision D54.
func (s *Supervisor) within(d *domain, act func() error) error {
	j := job{act, make(chan error, 1)}
	select {
	case d.jobs <- j:
	default:
		s.busy.Go(func() { s.attend(d, j) })
	}
	return <-j.done
}

// job is work for a thread of a domain.
type job struct {
	act  func() error
	done chan error
}

// attendance is how long a thread of a domain stays idle. Restricting a new thread takes longer
// than a job.
const attendance = 100 * time.Millisecond

// attend does jobs on a thread that ends with them, since the kernel never removes a ruleset
// from it.
func (s *Supervisor) attend(d *domain, j job) {
	shares, err := settle()
	if shares {
		s.shares.Store(true)
	}
	if err == nil {
		err = d.enter()
	}
	if err != nil {
		j.done <- err
		return
	}
	for {
		j.done <- j.act()
		select {
		case j = <-d.jobs:
		case <-time.After(attendance):
			return
		}
	}
}

// reaches reports whether the caller may look into another process of the sandbox: a process
// that its own rulesets bind as well (hook_ptrace_access_check() in security/landlock/task.c).
func (r *resolver) reaches(pid int) bool {
	if !r.domain.binds() {
		return true
	}
	m, marked, err := markOf(pid)
	return err == nil && marked && r.domain.mark.holds(m)
}
