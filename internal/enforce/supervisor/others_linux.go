package supervisor

import "golang.org/x/sys/unix"

// A process may change limits and priorities of other processes of its user, and Landlock has
// no right for that. The target is in a register, so a call about a process or thread of the
// tool is left to the kernel.

// processes answers the calls about another process.
type processes struct{ *call }

// The kinds of target of setpriority(2) and ioprio_set(2) that are a single process.
const (
	prioProcess   = 0
	ioprioProcess = 1
)

// other answers a call about the process or thread with a number, 0 for the caller.
func (c processes) other(id uint64) answer {
	pid := int(int32(uint32(id)))
	if pid == 0 || pid > 0 && c.box.ours(pid) {
		return proceed
	}
	if pid > 0 && unix.Kill(pid, 0) == unix.ESRCH {
		return fails(unix.ESRCH)
	}
	return c.denies(unix.EPERM, "limits and priorities of processes outside of the sandbox stay as they are")
}

// otherOf answers a call whose first argument is the kind of the number in its second.
func (c processes) otherOf(process uint64) answer {
	if c.args[0] != process {
		return c.denies(unix.EPERM, "groups and users have processes outside of the sandbox")
	}
	return c.other(c.args[1])
}
