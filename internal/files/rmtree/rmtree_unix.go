//go:build unix

// Package rmtree removes directories with everything in them.
package rmtree

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Remove removes a directory and everything in it, also directories whose modes keep their owner out. It follows no
// symlink, and leaves what is mounted: that lies elsewhere as well. Then it fails, as it does for whatever it cannot
// remove, with the first error.
// See decision D220.
func Remove(dir string) error {
	return (&removal{depth: math.MaxInt, entries: math.MaxInt}).below(dir)
}

// RemoveSmall removes a directory as Remove does if it is not deeper and has no more entries than that.
func RemoveSmall(dir string, depth, entries int) error {
	return (&removal{depth: depth, entries: entries}).below(dir)
}

// RemoveIn removes a directory below an open directory as Remove does.
func RemoveIn(root *os.Root, name string) error {
	if !filepath.IsLocal(name) || filepath.Clean(name) == "." {
		return &fs.PathError{Op: "remove", Path: name, Err: unix.EINVAL}
	}
	name = filepath.Clean(name)
	dir, err := root.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	r := &removal{depth: math.MaxInt, entries: math.MaxInt}
	return r.remove(int(dir.Fd()), filepath.Join(root.Name(), name), filepath.Base(name))
}

var errLarge = errors.New("is too large")

// removal is the removal of a tree, with the levels and entries that may be left.
type removal struct{ depth, entries int }

func (r *removal) below(dir string) error {
	if dir == "" {
		return nil // as os.RemoveAll
	}
	switch dir = filepath.Clean(dir); filepath.Base(dir) {
	case ".", "..", "/":
		return &fs.PathError{Op: "remove", Path: dir, Err: unix.EINVAL}
	}
	fd, err := unix.Open(filepath.Dir(dir), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		err = r.remove(fd, dir, filepath.Base(dir))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// remove removes an entry of an open directory.
func (r *removal) remove(parent int, path, name string) error {
	why := unix.Unlinkat(parent, name, 0)
	if why == nil || why == unix.ENOENT {
		return nil
	}
	fd, err := open(parent, name)
	if err == unix.ENOTDIR || err == unix.ELOOP {
		err = why // it is no directory
	}
	if err != nil {
		return &fs.PathError{Op: "remove", Path: path, Err: err}
	}
	dir := os.NewFile(uintptr(fd), path)
	defer dir.Close()
	if r.depth--; r.depth < 0 {
		return errLarge
	}
	defer func() { r.depth++ }()
	if err := r.empty(dir); err != nil {
		return err
	}
	if err := unix.Unlinkat(parent, name, unix.AT_REMOVEDIR); err != nil && err != unix.ENOENT {
		return &fs.PathError{Op: "remove", Path: path, Err: err}
	}
	return nil
}

// empty removes the entries of a directory.
func (r *removal) empty(dir *os.File) error {
	const some = 1024
	for {
		// After a removal a directory is read from its start.
		if _, err := dir.Seek(0, 0); err != nil {
			return err
		}
		names, _ := dir.Readdirnames(some)
		if r.entries -= len(names); r.entries < 0 {
			return errLarge
		}
		if len(names) == 0 {
			return nil
		}
		var first error
		left := 0
		for _, name := range names {
			if err := r.remove(int(dir.Fd()), dir.Name()+"/"+name, name); err != nil {
				left++
				if first == nil {
					first = err
				}
			}
		}
		if first != nil && (left == some || len(names) < some || errors.Is(first, errLarge)) {
			return first
		}
	}
}

// open opens a directory of its mount, and lets the owner list and change it.
func open(parent int, name string) (int, error) {
	fd, err := within(parent, name, unix.O_RDONLY)
	if err == unix.EACCES {
		if err := permit(parent, name); err != nil {
			return -1, unix.EACCES
		}
		fd, err = within(parent, name, unix.O_RDONLY)
	}
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil && st.Mode&0o700 != 0o700 {
		_ = unix.Fchmod(fd, 0o700)
	}
	return fd, nil
}
