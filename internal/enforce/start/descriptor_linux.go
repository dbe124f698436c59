package start

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// descriptorOf is the descriptor that a path names by its number, as the caller has passed it on.
func descriptorOf(path string) (int, bool) {
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if rest, ok := strings.CutPrefix(path, dir); ok {
			n, err := strconv.Atoi(rest)
			return n, err == nil && n >= 0 && strconv.Itoa(n) == rest
		}
	}
	return 0, false
}

var errNotPassed = errors.New("no descriptor of this number was passed on, open for writing")

// descriptor duplicates a descriptor that the caller has passed on. Those that this process has
// opened itself are closed at execve and so none of them. A file that a tool could write is refused as
// under a path.
func (o *outputs) descriptor(n int) (*os.File, error) {
	flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0)
	mode, err1 := unix.FcntlInt(uintptr(n), unix.F_GETFL, 0)
	var st unix.Stat_t
	if err != nil || err1 != nil || flags&unix.FD_CLOEXEC != 0 || mode&unix.O_ACCMODE == unix.O_RDONLY || unix.Fstat(n, &st) != nil {
		return nil, errNotPassed
	}
	link := "/proc/self/fd/" + strconv.Itoa(n)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		if name, err := os.Readlink(link); err == nil {
			if by := o.writes(name); by != "" {
				return nil, errors.New(o.spec.Tool + " may write to " + name + " by " + by)
			}
		}
	case unix.S_IFIFO:
		// Opened anew, waiting for a reader has an end, and the caller's descriptor stays as it is.
		if fd, err := unix.Open(link, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
			return os.NewFile(uintptr(fd), link), nil
		}
	case unix.S_IFSOCK, unix.S_IFCHR:
	default:
		return nil, errNotPassed
	}
	fd, err := unix.FcntlInt(uintptr(n), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), link), nil
}
