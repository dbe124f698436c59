package start

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/denial/evidencelog"
)

// outputs are the files that this process writes about a run; nil for none. The report gets a line for every denial,
// the record describes the run, and the evidence lists its used and refused operations.
type outputs struct {
	*run
	report, record, evidence *os.File
	// journal is the run's part of an evidence log; journalled says whether that has begun.
	journal    *evidencelog.Log
	journalled bool
}

// open opens the files that this start writes, and prints which refusals will be missing
// there.
func (o *outputs) open() error {
	var err error
	if o.req.Record != nil {
		if o.record, err = o.output("--record", o.req.Record.File); err != nil {
			return err
		}
	}
	if o.req.Evidence != "" {
		if o.evidence, err = o.output("--evidence", o.req.Evidence); err != nil {
			return err
		}
	}
	if o.req.EvidenceLog != nil {
		if err = o.openLog(o.req.EvidenceLog); err != nil {
			return failed("--evidence-log %s: %w", o.req.EvidenceLog.File, err)
		}
	}
	if o.req.Report == "" {
		return nil
	}
	if o.report, err = o.output("--report", o.req.Report); err != nil {
		return err
	}
	if !o.traced && (!o.supervised || !o.spec.Supervision.Opens()) {
		_, _ = io.WriteString(o.req.Messages, "accessc: the report will lack files: no supervisor sees the refused opens of "+
			o.spec.Tool+"; add --trace to see them (slower)\n")
	}
	return nil
}

// output opens a file that this process writes about a tool, standard output for "-", or a
// descriptor that the caller has passed on. The tool must not be able to change it: no
// symlink leads to it, it has no other name, and the policy grants no writing there. The file is opened before the tool
// starts, and empty from then on.
func (o *outputs) output(flag, path string) (*os.File, error) {
	if path == "-" {
		fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return nil, failed("%s -: standard output: %w", flag, err)
		}
		return os.NewFile(uintptr(fd), "-"), nil
	}
	if n, ok := descriptorOf(path); ok {
		f, err := o.descriptor(n)
		if err != nil {
			return nil, failed("%s %s: %w", flag, path, err)
		}
		return f, nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, failed("%s %s: %w", flag, path, err)
	}
	if by := o.writes(abs); by != "" {
		return nil, failed("%s %s: %s may write there by %s; name a file that it may not write", flag, path, o.spec.Tool, by)
	}
	f, err := openOutput(abs, unix.O_WRONLY)
	if err == nil {
		if err = f.Truncate(0); err != nil {
			_ = f.Close()
		}
	}
	if err != nil {
		return nil, failed("%s %s: %w", flag, path, err)
	}
	return f, nil
}

var errNotRegular = errors.New("not a regular file; open a pipe or a FIFO yourself and name its descriptor, as in /dev/fd/3")

// openOutput opens a regular file of this user's for appending, with an access mode, over no symlink.
func openOutput(abs string, mode uint64) (*os.File, error) {
	how := unix.OpenHow{
		Flags:   mode | unix.O_APPEND | unix.O_CREAT | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC,
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
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// observes reports whether the operations of the run are kept for its end.
func (o *outputs) observes() bool { return o.evidence != nil || o.record != nil && o.traced }
