package supervisor

import "golang.org/x/sys/unix"

// older answers calls that amd64 has beside their newer forms; later architectures have the
// newer forms only.
func older() map[uint32]handler {
	return map[uint32]handler{
		unix.SYS_OPEN: func(c *call) answer { return c.open(cwd, c.args[0], c.args[1], c.args[2]) },
		unix.SYS_CREAT: func(c *call) answer {
			return c.open(cwd, c.args[0], unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC, c.args[1])
		},
		unix.SYS_MKDIR:   func(c *call) answer { return c.mkdir(cwd, c.args[0], c.args[1]) },
		unix.SYS_MKNOD:   func(c *call) answer { return c.mknod(cwd, c.args[0], c.args[1]) },
		unix.SYS_SYMLINK: func(c *call) answer { return c.symlink(c.args[0], cwd, c.args[1]) },
		unix.SYS_UNLINK:  func(c *call) answer { return c.unlink(cwd, c.args[0], 0) },
		unix.SYS_RMDIR:   func(c *call) answer { return c.unlink(cwd, c.args[0], unix.AT_REMOVEDIR) },
		unix.SYS_RENAME:  func(c *call) answer { return c.rename(cwd, c.args[0], cwd, c.args[1], 0) },
		unix.SYS_LINK:    func(c *call) answer { return c.link(cwd, c.args[0], cwd, c.args[1], 0) },
		unix.SYS_CHMOD:   func(c *call) answer { return c.chmod(c.ofPath(cwd, c.args[0], 0), c.args[1]) },
		unix.SYS_CHOWN:   func(c *call) answer { return c.change(c.ofPath(cwd, c.args[0], 0), chown(c.args[1], c.args[2])) },
		unix.SYS_LCHOWN: func(c *call) answer {
			return c.change(c.ofPath(cwd, c.args[0], unix.AT_SYMLINK_NOFOLLOW), chown(c.args[1], c.args[2]))
		},
		unix.SYS_UTIME:     (*call).utime,
		unix.SYS_UTIMES:    func(c *call) answer { return c.utimes(cwd, c.args[0], c.args[1]) },
		unix.SYS_FUTIMESAT: func(c *call) answer { return c.utimes(c.args[0], c.args[1], c.args[2]) },
	}
}
