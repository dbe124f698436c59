package start

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/ir"
)

// outputs opens the files that this start writes, and prints which refusals will be missing
// there.
func (r *run) outputs() error {
	var err error
	if r.req.Record != nil {
		if r.record, err = r.output("--record", r.req.Record.File); err != nil {
			return err
		}
	}
	if r.req.Evidence != "" {
		if r.evidence, err = r.output("--evidence", r.req.Evidence); err != nil {
			return err
		}
	}
	if r.req.Report == "" {
		return nil
	}
	if r.report, err = r.output("--report", r.req.Report); err != nil {
		return err
	}
	if !r.req.Trace && (!r.supervised || !r.spec.Supervision.Opens()) {
		_, _ = io.WriteString(r.req.Messages, "accessc: the report will lack files: no supervisor sees the refused opens of "+
			r.spec.Tool+"; add --trace to see them (slower)\n")
	}
	return nil
}

// output opens a file that this process writes about a tool, standard output for "-", or a
// descriptor that the caller has passed on. The tool must not be able to change it: no
// symlink leads to it, it has no other name, and the policy grants no writing there. The file is opened before the tool starts, and empty from
// then on.
func (r *run) output(flag, path string) (*os.File, error) {
	if path == "-" {
		fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return nil, failed("%s -: standard output: %w", flag, err)
		}
		return os.NewFile(uintptr(fd), "-"), nil
	}
	if n, ok := descriptorOf(path); ok {
		f, err := r.descriptor(n)
		if err != nil {
			return nil, failed("%s %s: %w", flag, path, err)
		}
		return f, nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, failed("%s %s: %w", flag, path, err)
	}
	if by := r.writes(abs); by != "" {
		return nil, failed("%s %s: %s may write there by %s; name a file that it may not write", flag, path, r.spec.Tool, by)
	}
	f, err := openOutput(abs)
	if err != nil {
		return nil, failed("%s %s: %w", flag, path, err)
	}
	return f, nil
}

var errNotRegular = errors.New("not a regular file; open a pipe or a FIFO yourself and name its descriptor, as in /dev/fd/3")

// openOutput opens a regular file of this user's for writing, over no symlink.
func openOutput(abs string) (*os.File, error) {
	how := unix.OpenHow{
		Flags:   unix.O_WRONLY | unix.O_APPEND | unix.O_CREAT | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC,
		Mode:    0o600,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, abs, &how)
	switch {
	case errors.Is(err, unix.ELOOP):
		if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil && real != filepath.Dir(abs) {
			return nil, fmt.Errorf("the path leads over a symlink; it is %s", filepath.Join(real, filepath.Base(abs)))
		}
		return nil, errors.New("is a symlink")
	case errors.Is(err, unix.ENXIO):
		return nil, errNotRegular
	case err != nil:
		return nil, err
	}
	f := os.NewFile(uintptr(fd), abs)
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	switch {
	case err != nil:
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		err = errNotRegular
	case st.Nlink != 1:
		err = errors.New("has a further name (a hard link), by which it could be written")
	case int(st.Uid) != os.Geteuid():
		err = errors.New("belongs to another user")
	case st.Mode&0o022 != 0:
		err = errors.New("others can write to it")
	default:
		err = f.Truncate(0)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// changing are the rights with which a tool could change a file, or put another one in its
// place.
func changing() uint64 {
	return landlock.FSMask([]landlock.Right{
		landlock.WriteFile, landlock.Truncate, landlock.MakeReg, landlock.MakeSym, landlock.MakeSock, landlock.MakeFifo, landlock.MakeDir,
		landlock.RemoveFile, landlock.RemoveDir,
	})
}

// writes names the grant that lets the tool change a path or put something in its place, empty
// for none.
func (r *run) writes(abs string) string { return r.grantOn(abs, changing(), ir.Write) }

// grantOn names the grant that gives the tool one of some rights on a path, empty for none: a
// grant of the ruleset, or one of the policy that the supervisor asks.
func (r *run) grantOn(abs string, rights uint64, caps ir.CapSet) string {
	for _, p := range r.spec.Paths {
		below, ok := strings.CutPrefix(abs, strings.TrimSuffix(p.Path, "/")+"/")
		if abs != p.Path && !ok || landlock.FSMask(p.Access)&rights == 0 {
			continue
		}
		first, _, _ := strings.Cut(below, "/")
		if p.Entries == nil || !slices.Contains(p.Entries.Except, first) {
			return "the grant on " + p.Path
		}
	}
	switch {
	case r.by != nil:
		return r.by.GrantOn(abs, caps)
	case r.supervised:
		return supervisor.GrantOn(r.spec, r.tmp, abs, caps)
	}
	return ""
}
