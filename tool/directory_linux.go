package tool

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// newHolder returns a holder that uses openat2(2). Other users of a Context need no such file.
func newHolder(b *ir.Bindings) (holder, error) { return &linuxHolder{b, openat2}, nil }

// linuxHolder opens directories by their descriptors. O_PATH needs no right on them.
type linuxHolder struct {
	bindings *ir.Bindings
	// openat2 is unix.Openat2, apart for tests of kernels that lack it.
	openat2 func(dir int, path string, how *unix.OpenHow) (int, error)
}

func openat2(dir int, path string, how *unix.OpenHow) (int, error) {
	return unix.Openat2(dir, path, how)
}

const holding = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func (h *linuxHolder) directory(at ir.Location) (directory, error) {
	abs, ok := h.bindings.Path(at)
	if !ok {
		return nil, fs.ErrNotExist
	}
	fd, err := again(func() (int, error) {
		return h.openat2(unix.AT_FDCWD, abs, &unix.OpenHow{
			Flags: holding, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		})
	})
	// Without the system call: ENOSYS. Filters of containers that do not know it say
	// EPERM (seccomp profiles of runc before 1.0.0-rc93).
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		fd, err = stepwise(abs)
	}
	if err != nil {
		return nil, swapped(err)
	}
	return held(fd), nil
}

// stepwise opens a directory component by component. With O_PATH and O_NOFOLLOW a symlink is
// opened as itself, which O_DIRECTORY refuses.
func stepwise(abs string) (int, error) {
	fd, err := again(func() (int, error) { return unix.Open("/", holding, 0) })
	for name := range strings.SplitSeq(abs, "/") {
		if err != nil {
			return -1, err
		}
		if name == "" {
			continue
		}
		var next int
		next, err = again(func() (int, error) { return unix.Openat(fd, name, holding, 0) })
		_ = unix.Close(fd)
		fd = next
	}
	return fd, err
}

// again repeats a call that a signal interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		fd, err := call()
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// swapped distinguishes a name that changed since it was judged from other errors.
func swapped(err error) error {
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EISDIR) {
		return &swappedError{err}
	}
	return err
}

// held is the descriptor of an open directory.
type held int

func (d held) close() { _ = unix.Close(int(d)) }

func (d held) open(name, full string, flag int, perm fs.FileMode) (*os.File, error) {
	fd, err := again(func() (int, error) {
		return unix.Openat(int(d), name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NOCTTY|unix.O_NONBLOCK,
			uint32(perm))
	})
	switch {
	case errors.Is(err, unix.EISDIR), errors.Is(err, unix.ENOTDIR):
		// Directories are not written to, whatever they were judged as.
		return nil, err
	case err != nil:
		return nil, swapped(err)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), full), nil
}

func (d held) mkdir(name string, perm fs.FileMode) error {
	return unix.Mkdirat(int(d), name, uint32(perm))
}

func (d held) remove(name string, dir bool) error {
	flags := 0
	if dir {
		flags = unix.AT_REMOVEDIR
	}
	return swapped(unix.Unlinkat(int(d), name, flags))
}
