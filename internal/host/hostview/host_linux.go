package hostview

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/files/kernelfs"
)

// fileSystem names the file system of a place, if the kernel shows itself there: nothing of /proc is a target of a
// rule, of /dev only the devices and terminals.
func fileSystem(path string) string {
	all, err := mounts(nil, nil)
	if err != nil {
		return unlisted
	}
	m := mountOf(all, path)
	if m == nil || !m.Closed && !(kernelfs.Shows(m.Type) && kernelfs.Below(m.Point, "/proc")) {
		return ""
	}
	return m.Type
}

// kernels lists the places at, below and around some directories at which the kernel shows itself, or a mount shows a
// place under another name, with their file systems, and the file systems of the directories that do so themselves.
// Where the host does not list its mounts, all of them are such places.
func kernels(roots, base []string) (out []Kernel) {
	all, err := mounts(roots, base)
	if err != nil {
		for _, dir := range slices.Concat(roots, base) {
			out = append(out, Kernel{Path: dir, Type: unlisted})
		}
		return out
	}
	add := func(k Kernel) {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	dirs := slices.Concat(roots, base)
	for i := range all {
		m := &all[i]
		for _, dir := range dirs {
			switch {
			case !m.Closed:
			case m.Point != dir && kernelfs.Below(m.Point, dir) && visible(all, m):
				add(Kernel{m.Point, m.Type, m.Again})
			case kernelfs.Below(dir, m.Point):
				if on := mountOf(all, dir); on != nil && on.Closed {
					add(Kernel{dir, on.Type, on.Again})
				}
			}
		}
	}
	for _, m := range kernelfs.Same(all, roots, base, Link) {
		add(Kernel{m.Point, m.Type, m.Again})
	}
	return out
}

// visible reports whether no other mount that holds files hides the mount m.
func visible(all []kernelfs.Mount, m *kernelfs.Mount) bool {
	there := mountOf(all, m.Point)
	return there == nil || there.Closed
}

// unlisted stands for the type of a file system where the host does not list its mounts.
const unlisted = "unknown"

// Listed returns an error where the host does not list its mounts, so that nobody knows where the kernel shows itself.
// See decision D362.
func Listed() error {
	_, err := mountList.read()
	return err
}

func mounts(roots, base []string) ([]kernelfs.Mount, error) {
	all, err := mountList.read()
	if err != nil {
		return nil, err
	}
	return kernelfs.Close(all, roots, base, Link), nil
}

// mountLists is a list of mounts that was read. A start asks for it several times.
type mountLists struct {
	file string // that has the list (proc_pid_mountinfo(5))
	mu   sync.Mutex
	text string
	buf  []byte // of the text
	all  []kernelfs.Mount
}

var mountList = mountLists{file: "/proc/thread-self/mountinfo"}

// read is the list of the mounts that are there now: it is read each time, and taken apart where it is another one than
// the last time. Nobody changes it.
func (l *mountLists) read() (_ []kernelfs.Mount, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.buf, err = readAll(l.buf[:0], l.file); err == nil && (l.all == nil || string(l.buf) != l.text) {
		l.text = string(l.buf)
		l.all, err = kernelfs.List(l.text)
	}
	if err != nil {
		l.all = nil
		return nil, fmt.Errorf("the mounts of this host are not known, and the kernel may show itself by any: %w", err)
	}
	return l.all, nil
}

// readAll appends a file of the kernel's to a buffer. Package os would have the runtime wait for its events.
func readAll(buf []byte, name string) ([]byte, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return buf, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	for {
		buf = slices.Grow(buf, os.Getpagesize())
		n, err := unix.Read(fd, buf[len(buf):cap(buf)])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return buf, &os.PathError{Op: "read", Path: name, Err: err}
		case n == 0:
			return buf, nil
		default:
			buf = buf[:len(buf)+n]
		}
	}
}

// Link returns the text of a symbolic link, empty for a file of another kind.
func Link(path string) (string, error) {
	to, err := os.Readlink(path)
	if errors.Is(err, unix.EINVAL) {
		return "", nil
	}
	return to, err
}

// Names are the canonical names that mounts give a place, its own first, and the points of mounts that show a part of
// it.
func Names(path string) []string {
	all, err := mountList.read()
	if err != nil {
		return []string{path}
	}
	return kernelfs.Names(all, path)
}

// mountOf is the mount that a file is on, by its name where the kernel does not say it. nil is none.
func mountOf(all []kernelfs.Mount, path string) *kernelfs.Mount {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT|unix.AT_STATX_DONT_SYNC,
		unix.STATX_MNT_ID, &st)
	if err != nil || st.Mask&unix.STATX_MNT_ID == 0 {
		return kernelfs.At(all, strings.TrimSuffix(path, "/"))
	}
	for i := range all {
		if all[i].ID == st.Mnt_id {
			return &all[i]
		}
	}
	return nil
}
