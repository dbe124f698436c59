package start

import (
	"errors"
	"fmt"
	"path"
	"slices"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/process/points"
)

// ruleset is a kernel ruleset that is being filled.
type ruleset struct {
	fd           int
	handled, net uint64
	// grants are the rules that have been added, nil where no supervisor needs them.
	grants *grants
	// keeps takes over the descriptor of a place that is kept for other starts; nil where none is.
	keeps func(path string, fd int) bool
}

// path adds one grant. It leaves out a path that does not exist, and refuses one that has come
// to lead over a symlink since it was made canonical. Those of an image were not: there a symlink gets
// nothing, and its target gets the rights that the ruleset grants at its own place.
func (b ruleset) path(p landlock.Path) error {
	if p.Entries != nil {
		return b.entries(p)
	}
	fd, err := openNoLinks(p.Path, unix.O_PATH)
	switch {
	case absent(err) || p.Image && errors.Is(err, unix.ELOOP):
		b.grants.place(p.Path, -1)
		return nil
	case errors.Is(err, unix.ELOOP):
		return errors.New("leads over a symlink now; build again")
	case err != nil:
		return err
	}
	defer b.done(p.Path, fd)
	points.ReachOf(points.Opened, p.Path)
	if b.grants == nil {
		return b.grantEither(fd, landlock.FSMask(p.Access)&b.handled)
	}
	b.grants.place(p.Path, fd)
	return b.grant(fd, landlock.FSMask(p.Access), false)
}

// done keeps or closes the descriptor of a place.
func (b ruleset) done(path string, fd int) {
	if b.keeps == nil || !b.keeps(path, fd) {
		_ = unix.Close(fd)
	}
}

// grantEither adds a rule on a directory, or on the file that the path leads to. The kernel refuses the
// rights of directories on a file (landlock_add_rule(2), EINVAL), which says what it is without asking.
func (b ruleset) grantEither(fd int, access uint64) error {
	attr := &ll.PathBeneathAttr{AllowedAccess: access, ParentFd: fd}
	if access == 0 {
		return nil
	}
	err := ll.LandlockAddPathBeneathRule(b.fd, attr, 0)
	if attr.AllowedAccess &= landlock.FileMask; err == unix.EINVAL && attr.AllowedAccess != access && attr.AllowedAccess != 0 {
		err = ll.LandlockAddPathBeneathRule(b.fd, attr, 0)
	} else if err == unix.EINVAL && attr.AllowedAccess == 0 {
		err = nil
	}
	return err
}

// grant adds a rule on the file of fd. entry is set for a file that is reached by its name in
// an expanded directory: the kernel knows files by inode, so another hard link of it would open
// the same file in a place that may be denied.
func (b ruleset) grant(fd int, access uint64, entry bool) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
	case unix.S_IFLNK:
		return nil
	default:
		if access &= landlock.FileMask; entry && st.Nlink > 1 && st.Mode&unix.S_IFMT == unix.S_IFREG {
			return nil
		}
	}
	if access &= b.handled; access == 0 {
		return nil
	}
	b.grants.add(&st, access)
	return ll.LandlockAddPathBeneathRule(b.fd, &ll.PathBeneathAttr{AllowedAccess: access, ParentFd: fd}, 0)
}

// entries grants on each entry that a directory has now.
func (b ruleset) entries(p landlock.Path) error {
	dir, err := openNoLinks(p.Path, unix.O_RDONLY|unix.O_DIRECTORY)
	switch {
	case absent(err) || p.Image && errors.Is(err, unix.ELOOP):
		return nil
	case errors.Is(err, unix.ELOOP):
		return errors.New("leads over a symlink now; build again")
	case err != nil:
		return err
	}
	defer unix.Close(dir)
	access := landlock.FSMask(p.Access)
	return eachName(dir, func(name string) error {
		if slices.Contains(p.Entries.Except, name) {
			return nil
		}
		return b.entry(dir, name, access)
	})
}

// entry grants on one entry of a directory.
func (b ruleset) entry(dir int, name string, access uint64) error {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		// It was there a moment ago; a file that has gone gets no grant.
		return nil
	}
	defer unix.Close(fd)
	if err := b.grant(fd, access, true); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// eachName calls do with the names in an open directory.
func eachName(dir int, do func(name string) error) error {
	buf := make([]byte, 8192)
	for {
		n, err := unix.ReadDirent(dir, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return err
		}
		_, _, names := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if err := do(name); err != nil {
				return err
			}
		}
	}
}

// maxInterpreters bounds the chain of scripts that interpret scripts, as the kernel
// does (fs/exec.c).
const maxInterpreters = 5

// program lets a listed file be started, with the interpreter that it names: the kernel checks
// execute on both. A path without a file, or not to a regular file, is left out.
func (b ruleset) program(file string) error {
	for range maxInterpreters {
		if file == "" {
			return nil
		}
		fd, err := unix.Open(file, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
			return nil
		}
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			// Reading a fifo's head to find its interpreter would wait for another process.
			_ = unix.Close(fd)
			return err
		}
		err = b.grant(fd, landlock.FSMask([]landlock.Right{landlock.Execute, landlock.ReadFile}), false)
		_ = unix.Close(fd)
		if err != nil {
			return err
		}
		if file, err = interpreter(file); err != nil {
			return err
		}
		if file != "" && !path.IsAbs(file) {
			return fmt.Errorf("names the interpreter %q, which is not absolute", file)
		}
	}
	return errors.New("is a script of a script of a script")
}

func (b ruleset) port(p landlock.Port) error {
	access := landlock.NetMask(p.Access) & b.net
	if access == 0 {
		return nil
	}
	return ll.LandlockAddNetPortRule(b.fd, &ll.NetPortAttr{AllowedAccess: access, Port: uint64(p.Port)}, 0)
}
