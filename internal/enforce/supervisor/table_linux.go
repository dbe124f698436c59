package supervisor

import (
	"maps"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/process/once"
)

type handler func(*call) answer

// on is the handler of a kind of calls.
func on[T ~struct{ *call }](answers func(T) answer) handler {
	return func(c *call) answer { return answers(T{c}) }
}

// handlers answer the trapped calls, by number, in every supervisor of this process. A trapped call without a handler
// fails with ENOSYS.
func handlers() map[uint32]handler {
	return handlersOnce.Get(func() map[uint32]handler {
		all := older()
		maps.Copy(all, network())
		maps.Copy(all, ofObjects())
		maps.Copy(all, ofQueues())
		maps.Copy(all, map[uint32]handler{
			unix.SYS_OPENAT:    func(c *call) answer { return opens{c}.open(c.args[0], c.args[1], c.args[2], c.args[3]) },
			unix.SYS_OPENAT2:   on(opens.open2),
			unix.SYS_MKDIRAT:   func(c *call) answer { return entries{c}.mkdir(c.args[0], c.args[1], c.args[2]) },
			unix.SYS_MKNODAT:   func(c *call) answer { return entries{c}.mknod(c.args[0], c.args[1], c.args[2]) },
			unix.SYS_SYMLINKAT: func(c *call) answer { return entries{c}.symlink(c.args[0], c.args[1], c.args[2]) },
			unix.SYS_UNLINKAT:  func(c *call) answer { return entries{c}.unlink(c.args[0], c.args[1], c.args[2]) },
			unix.SYS_TRUNCATE:  on(entries.truncate),
			unix.SYS_RENAMEAT2: func(c *call) answer { return moves{c}.rename(c.args[0], c.args[1], c.args[2], c.args[3], c.args[4]) },
			unix.SYS_RENAMEAT:  func(c *call) answer { return moves{c}.rename(c.args[0], c.args[1], c.args[2], c.args[3], 0) },
			unix.SYS_LINKAT:    func(c *call) answer { return moves{c}.link(c.args[0], c.args[1], c.args[2], c.args[3], c.args[4]) },
			unix.SYS_FCHMOD:    on(func(m metadata) answer { return m.chmod(m.ofDescriptor(m.args[0]), m.args[1]) }),
			unix.SYS_FCHMODAT:  on(func(m metadata) answer { return m.chmod(m.ofPath(m.args[0], m.args[1], 0), m.args[2]) }),
			unix.SYS_FCHMODAT2: on(func(m metadata) answer { return m.chmod(m.ofPath(m.args[0], m.args[1], m.args[3]), m.args[2]) }),
			unix.SYS_FCHOWN:    on(func(m metadata) answer { return m.change(m.ofDescriptor(m.args[0]), chown(m.args[1], m.args[2])) }),
			unix.SYS_FCHOWNAT: on(func(m metadata) answer {
				return m.change(m.ofPath(m.args[0], m.args[1], m.args[4]), chown(m.args[2], m.args[3]))
			}),
			unix.SYS_UTIMENSAT:    on(metadata.utimensat),
			unix.SYS_SETXATTR:     on(func(m metadata) answer { return m.setxattr(m.ofPath(cwd, m.args[0], 0)) }),
			unix.SYS_LSETXATTR:    on(func(m metadata) answer { return m.setxattr(m.ofPath(cwd, m.args[0], unix.AT_SYMLINK_NOFOLLOW)) }),
			unix.SYS_FSETXATTR:    on(func(m metadata) answer { return m.setxattr(m.ofDescriptor(m.args[0])) }),
			unix.SYS_REMOVEXATTR:  on(func(m metadata) answer { return m.removexattr(m.ofPath(cwd, m.args[0], 0)) }),
			unix.SYS_LREMOVEXATTR: on(func(m metadata) answer { return m.removexattr(m.ofPath(cwd, m.args[0], unix.AT_SYMLINK_NOFOLLOW)) }),
			unix.SYS_FREMOVEXATTR: on(func(m metadata) answer { return m.removexattr(m.ofDescriptor(m.args[0])) }),
			unix.SYS_EXECVE: func(c *call) answer {
				return programs{c}.execve(invocation{unix.AT_FDCWD, c.args[0], c.args[1], c.args[2], 0})
			},
			unix.SYS_EXECVEAT: func(c *call) answer {
				return programs{c}.execve(invocation{dirfd(c.args[0]), c.args[1], c.args[2], c.args[3], uint64(uint32(c.args[4]))})
			},
			unix.SYS_IOCTL: on(metadata.ioctl),

			unix.SYS_PRLIMIT64:          func(c *call) answer { return processes{c}.other(c.args[0]) },
			unix.SYS_SCHED_SETAFFINITY:  func(c *call) answer { return processes{c}.other(c.args[0]) },
			unix.SYS_SCHED_SETATTR:      func(c *call) answer { return processes{c}.other(c.args[0]) },
			unix.SYS_SCHED_SETPARAM:     func(c *call) answer { return processes{c}.other(c.args[0]) },
			unix.SYS_SCHED_SETSCHEDULER: func(c *call) answer { return processes{c}.other(c.args[0]) },
			unix.SYS_SETPRIORITY:        func(c *call) answer { return processes{c}.otherOf(prioProcess) },
			unix.SYS_IOPRIO_SET:         func(c *call) answer { return processes{c}.otherOf(ioprioProcess) },

			unix.SYS_KILL: on(processes.kill), // trapped only for the report

			unix.SYS_INOTIFY_ADD_WATCH:       on(opens.watch),
			unix.SYS_LANDLOCK_CREATE_RULESET: on(rulesets.createRuleset),
			unix.SYS_LANDLOCK_ADD_RULE:       on(rulesets.addRule),
			unix.SYS_LANDLOCK_RESTRICT_SELF:  on(rulesets.restrict),
		})
		return all
	})
}

var handlersOnce once.Value[map[uint32]handler]

// network are the handlers of calls on sockets.
func network() map[uint32]handler {
	return map[uint32]handler{
		unix.SYS_CONNECT: on(sockets.connect),
		unix.SYS_BIND:    on(sockets.bind),
		unix.SYS_LISTEN:  on(sockets.listen),

		unix.SYS_SOCKET:      on(sockets.datagram),
		unix.SYS_SOCKETPAIR:  on(sockets.pair),
		unix.SYS_SENDTO:      on(sockets.sendto),
		unix.SYS_SENDMSG:     on(sockets.sendmsg),
		unix.SYS_SENDMMSG:    on(sockets.sendmmsg),
		unix.SYS_SETSOCKOPT:  on(sockets.setsockopt),
		unix.SYS_GETPEERNAME: on(sockets.getpeername),
		unix.SYS_GETSOCKNAME: on(sockets.getsockname),
		unix.SYS_RECVFROM:    on(sockets.recvfrom),
		unix.SYS_RECVMSG:     on(sockets.recvmsg),
	}
}

// cwd is AT_FDCWD as an argument register holds it.
const cwd = 1<<64 - -unix.AT_FDCWD
