package start

import (
	"os"

	"golang.org/x/sys/unix"
)

// remove removes the directories of a run. In a process that goes on, another process of this program
// removes trees that are deep or large: a tool may have made one so deep that removing it takes more
// descriptors or memory than this process has.
func (s *Site) remove(d *directories) {
	if !s.Lasts || d.dir == "" {
		d.discard()
		return
	}
	_ = unix.Unlink(d.tmp + contextFile)
	left := []string{d.dir}
	if d.shared != "" {
		left = append(left, d.shared)
	}
	for _, dir := range left {
		if unix.Rmdir(dir) == unix.ENOTEMPTY && !removeSmall(dir) {
			s.sweep(dir)
		}
	}
}

// sweep has another process of this program remove a directory, and waits for it.
func (s *Site) sweep(dir string) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer null.Close()
	p, err := os.StartProcess("/proc/self/exe", s.words(SweepCommand, dir), &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{null, null, null},
	})
	if err == nil {
		_, _ = p.Wait()
	}
}

// Bounds of a tree that is removed here.
const (
	smallDepth   = 8
	smallEntries = 4096
)

// removeSmall removes a directory and everything in it if that is little. It follows no symlink.
func removeSmall(dir string) bool {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	entries := 0
	ok := empty(fd, smallDepth, &entries)
	return ok && unix.Rmdir(dir) == nil
}

// empty removes the entries of an open directory, and closes it.
func empty(dir, depth int, entries *int) bool {
	defer unix.Close(dir)
	var names []string
	if eachName(dir, func(name string) error {
		if *entries++; *entries > smallEntries {
			return unix.E2BIG
		}
		names = append(names, name)
		return nil
	}) != nil {
		return false
	}
	for _, name := range names {
		if unix.Unlinkat(dir, name, 0) == nil {
			continue
		}
		if depth == 0 {
			return false
		}
		below, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil || !empty(below, depth-1, entries) || unix.Unlinkat(dir, name, unix.AT_REMOVEDIR) != nil {
			return false
		}
	}
	return true
}
