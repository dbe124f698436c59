package supervisor

import (
	"maps"

	"golang.org/x/sys/unix"
)

type handler func(*call) answer

// handlers answer the trapped calls, by number. A trapped call without one fails with
// ENOSYS.
func handlers() map[uint32]handler {
	all := older()
	maps.Copy(all, map[uint32]handler{
		unix.SYS_OPENAT:    func(c *call) answer { return c.open(c.args[0], c.args[1], c.args[2], c.args[3]) },
		unix.SYS_OPENAT2:   (*call).open2,
		unix.SYS_MKDIRAT:   func(c *call) answer { return c.mkdir(c.args[0], c.args[1], c.args[2]) },
		unix.SYS_MKNODAT:   func(c *call) answer { return c.mknod(c.args[0], c.args[1], c.args[2]) },
		unix.SYS_SYMLINKAT: func(c *call) answer { return c.symlink(c.args[0], c.args[1], c.args[2]) },
		unix.SYS_UNLINKAT:  func(c *call) answer { return c.unlink(c.args[0], c.args[1], c.args[2]) },
		unix.SYS_TRUNCATE:  (*call).truncate,
		unix.SYS_RENAMEAT2: func(c *call) answer { return c.rename(c.args[0], c.args[1], c.args[2], c.args[3], c.args[4]) },
		unix.SYS_RENAMEAT:  func(c *call) answer { return c.rename(c.args[0], c.args[1], c.args[2], c.args[3], 0) },
		unix.SYS_LINKAT:    func(c *call) answer { return c.link(c.args[0], c.args[1], c.args[2], c.args[3], c.args[4]) },
		unix.SYS_FCHMOD:    func(c *call) answer { return c.chmod(c.ofDescriptor(c.args[0]), c.args[1]) },
		unix.SYS_FCHMODAT:  func(c *call) answer { return c.chmod(c.ofPath(c.args[0], c.args[1], 0), c.args[2]) },
		unix.SYS_FCHMODAT2: func(c *call) answer { return c.chmod(c.ofPath(c.args[0], c.args[1], c.args[3]), c.args[2]) },
		unix.SYS_FCHOWN:    func(c *call) answer { return c.change(c.ofDescriptor(c.args[0]), chown(c.args[1], c.args[2])) },
		unix.SYS_FCHOWNAT: func(c *call) answer {
			return c.change(c.ofPath(c.args[0], c.args[1], c.args[4]), chown(c.args[2], c.args[3]))
		},
		unix.SYS_UTIMENSAT:    (*call).utimensat,
		unix.SYS_SETXATTR:     func(c *call) answer { return c.setxattr(c.ofPath(cwd, c.args[0], 0)) },
		unix.SYS_LSETXATTR:    func(c *call) answer { return c.setxattr(c.ofPath(cwd, c.args[0], unix.AT_SYMLINK_NOFOLLOW)) },
		unix.SYS_FSETXATTR:    func(c *call) answer { return c.setxattr(c.ofDescriptor(c.args[0])) },
		unix.SYS_REMOVEXATTR:  func(c *call) answer { return c.removexattr(c.ofPath(cwd, c.args[0], 0)) },
		unix.SYS_LREMOVEXATTR: func(c *call) answer { return c.removexattr(c.ofPath(cwd, c.args[0], unix.AT_SYMLINK_NOFOLLOW)) },
		unix.SYS_FREMOVEXATTR: func(c *call) answer { return c.removexattr(c.ofDescriptor(c.args[0])) },
		unix.SYS_EXECVE:       func(c *call) answer { return c.execve(invocation{unix.AT_FDCWD, c.args[0], c.args[1], c.args[2], 0}) },
		unix.SYS_EXECVEAT: func(c *call) answer {
			return c.execve(invocation{dirfd(c.args[0]), c.args[1], c.args[2], c.args[3], c.args[4]})
		},
		unix.SYS_IOCTL:   (*call).ioctl,
		unix.SYS_CONNECT: (*call).connect,
		unix.SYS_BIND:    (*call).bind,
		unix.SYS_LISTEN:  (*call).listen,

		unix.SYS_PRLIMIT64:          func(c *call) answer { return c.other(c.args[0]) },
		unix.SYS_SCHED_SETAFFINITY:  func(c *call) answer { return c.other(c.args[0]) },
		unix.SYS_SCHED_SETATTR:      func(c *call) answer { return c.other(c.args[0]) },
		unix.SYS_SCHED_SETPARAM:     func(c *call) answer { return c.other(c.args[0]) },
		unix.SYS_SCHED_SETSCHEDULER: func(c *call) answer { return c.other(c.args[0]) },
		unix.SYS_SETPRIORITY:        func(c *call) answer { return c.otherOf(prioProcess) },
		unix.SYS_IOPRIO_SET:         func(c *call) answer { return c.otherOf(ioprioProcess) },

		unix.SYS_LANDLOCK_CREATE_RULESET: (*call).createRuleset,
		unix.SYS_LANDLOCK_ADD_RULE:       (*call).addRule,
		unix.SYS_LANDLOCK_RESTRICT_SELF:  (*call).restrict,
	})
	return all
}

// cwd is AT_FDCWD as an argument register holds it.
const cwd = 1<<64 - -unix.AT_FDCWD
