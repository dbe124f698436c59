package supervisor

import "golang.org/x/sys/unix"

// Limits and priorities of other processes of the same user can be changed without a right
// that Landlock knows. Whose they are is in a register, so that a call about a process or
// thread of the tool is left to the kernel.

// The kinds of target of setpriority(2) and ioprio_set(2) that are one process.
const (
	prioProcess   = 0
	ioprioProcess = 1
)

// other answers a call about the process or thread of a number, 0 for the caller.
func (c *call) other(id uint64) answer {
	pid := int(int32(uint32(id)))
	if pid == 0 || pid > 0 && c.ours(pid) {
		return proceed
	}
	if pid > 0 && unix.Kill(pid, 0) == unix.ESRCH {
		return fails(unix.ESRCH)
	}
	return c.denies(unix.EPERM, "limits and priorities of processes outside of the sandbox stay as they are")
}

// otherOf answers a call whose first argument says what its second is the number of.
func (c *call) otherOf(process uint64) answer {
	if c.args[0] != process {
		return c.denies(unix.EPERM, "groups and users have processes outside of the sandbox")
	}
	return c.other(c.args[1])
}
