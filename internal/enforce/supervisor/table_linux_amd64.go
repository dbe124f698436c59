package supervisor

import "golang.org/x/sys/unix"

// older answers calls that amd64 has beside their newer forms; later architectures have the
// newer forms only.
func older() map[uint32]handler {
	return map[uint32]handler{
		unix.SYS_OPEN: func(c *call) answer { return opens{c}.open(cwd, c.args[0], c.args[1], c.args[2]) },
		unix.SYS_CREAT: func(c *call) answer {
			return opens{c}.open(cwd, c.args[0], unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC, c.args[1])
		},
		unix.SYS_MKDIR:   func(c *call) answer { return entries{c}.mkdir(cwd, c.args[0], c.args[1]) },
		unix.SYS_MKNOD:   func(c *call) answer { return entries{c}.mknod(cwd, c.args[0], c.args[1]) },
		unix.SYS_SYMLINK: func(c *call) answer { return entries{c}.symlink(c.args[0], cwd, c.args[1]) },
		unix.SYS_UNLINK:  func(c *call) answer { return entries{c}.unlink(cwd, c.args[0], 0) },
		unix.SYS_RMDIR:   func(c *call) answer { return entries{c}.unlink(cwd, c.args[0], unix.AT_REMOVEDIR) },
		unix.SYS_RENAME:  func(c *call) answer { return moves{c}.rename(cwd, c.args[0], cwd, c.args[1], 0) },
		unix.SYS_LINK:    func(c *call) answer { return moves{c}.link(cwd, c.args[0], cwd, c.args[1], 0) },
		unix.SYS_CHMOD:   on(func(m metadata) answer { return m.chmod(m.ofPath(cwd, m.args[0], 0), m.args[1]) }),
		unix.SYS_CHOWN:   on(func(m metadata) answer { return m.change(m.ofPath(cwd, m.args[0], 0), chown(m.args[1], m.args[2])) }),
		unix.SYS_LCHOWN: on(func(m metadata) answer {
			return m.change(m.ofPath(cwd, m.args[0], unix.AT_SYMLINK_NOFOLLOW), chown(m.args[1], m.args[2]))
		}),
		unix.SYS_UTIME:     on(metadata.utime),
		unix.SYS_UTIMES:    on(func(m metadata) answer { return m.utimes(cwd, m.args[0], m.args[1]) }),
		unix.SYS_FUTIMESAT: on(func(m metadata) answer { return m.utimes(m.args[0], m.args[1], m.args[2]) }),
	}
}

// largeFile is O_LARGEFILE, which C libraries pass for programs that need none. Its constant in package unix is 0.
const largeFile = 0o100000

// olderMkdir is the number of mkdir(2).
const olderMkdir = unix.SYS_MKDIR
