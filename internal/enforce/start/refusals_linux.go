package start

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// refusals are what accessc denials shows of a run.
type refusals struct {
	*run
	program *program
}

// say keeps the refusals of a run that has ended, and prints the first of them after a
// failed run and their number after any other.
// See decision D175.
func (r *refusals) say(log *denial.Log, status syscall.WaitStatus, ended time.Time) {
	show := "accessc denials"
	if r.req.Named && r.spec.Tool != "" {
		show += " " + visible.Text(r.spec.Tool)
	}
	more := show + " shows each, and what would allow it"
	if err := r.keep(log, status, ended); err != nil {
		more = "exec --report FILE lists each"
	}
	switch {
	case r.req.Quiet:
	case status.Exited() && status.ExitStatus() == 0:
		log.Note(r.req.Messages, more)
	case log.Counted() == 0:
		r.sayUnseen(status)
	default:
		log.Summary(r.req.Messages, more)
	}
}

// sayUnseen says of a tool that has failed, and was refused nothing that this process knows of, that the kernel may
// have refused something by itself.
// See decision D63.
func (r *refusals) sayUnseen(status syscall.WaitStatus) {
	if r.req.Again == "" || r.traced || !status.Exited() || status.ExitStatus() > shellSignal {
		return
	}
	why := "the kernel alone confines it, so accessc saw no refusal"
	if r.supervised {
		if j := r.spec.Supervision.Judges; j.Reads && j.Updates && j.Names {
			return // the kernel by itself refuses calls that few programs make
		}
		why = "accessc saw no refusal, but the kernel makes some by itself"
	}
	_, _ = fmt.Fprintf(r.req.Messages, "accessc: %s ended with status %d; %s: %s names each\n",
		visible.Text(r.spec.Tool), status.ExitStatus(), why, visible.Text(r.req.Again))
}

// keep puts the refusals of the run in place of those of the tool's run before, where the tool
// can neither read nor change them.
func (r *refusals) keep(log *denial.Log, status syscall.WaitStatus, ended time.Time) error {
	if !r.supervised {
		return os.ErrInvalid
	}
	file, err := r.kept()
	if err != nil {
		return err
	}
	k := r.about(file)
	k.Status, k.Traced = exitStatus(status), r.traced
	text := log.Keep(k, ended)
	if log.Total() == 0 && overwritten(file, text) {
		return nil
	}
	return renew(file, text)
}

// about is the tool of a run, whose refusals a file keeps.
func (r *refusals) about(file string) denial.Kept {
	// The file of no tool is that of commands without a name (userdir.Dir.Denials).
	k := denial.Kept{Tool: r.spec.Tool, Unnamed: filepath.Base(file) == ".json"}
	if k.Given = r.req.Program != "" || len(r.req.Args) > 0; k.Given {
		k.GivenCommand = r.program.command()
	}
	return k
}

// kept is the file that keeps the refusals of the tool's last run, in a directory that is there.
func (r *refusals) kept() (string, error) {
	if r.req.Denials == "" {
		return "", os.ErrInvalid
	}
	if err := os.MkdirAll(filepath.Dir(r.req.Denials), 0o700); err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(r.req.Denials))
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, filepath.Base(r.req.Denials))
	if r.grantOn(file, changing()|reading(), ir.Write.With(ir.Read)) != "" {
		return "", os.ErrPermission
	}
	return file, nil
}

// renew gives a file another content, whole or not at all. Only this user reads it.
func renew(file string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".denials-")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// overwritten puts a text in the place of one that differs from it in digits alone, as the notes
// of two starts differ in their time, and reports whether it has. To make a file and to rename it
// takes a twentieth of a start.
func overwritten(file string, text []byte) bool {
	fd, err := unix.Open(file, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	was := make([]byte, len(text)+1)
	if unix.Fstat(fd, &st) != nil || st.Mode != unix.S_IFREG|0o600 || st.Nlink != 1 {
		return false
	}
	if n, err := unix.Pread(fd, was, 0); err != nil || n != len(text) {
		return false
	}
	digit := func(b byte) bool { return '0' <= b && b <= '9' }
	for i, b := range text {
		if was[i] != b && !(digit(was[i]) && digit(b)) {
			return false
		}
	}
	n, err := unix.Pwrite(fd, text, 0)
	return err == nil && n == len(text)
}

// unwatched notes that nothing watches this run, in place of the refusals of an earlier one: they
// would be taken for those of this run, or those of another tool would.
// See decision D175.
func (r *refusals) unwatched() {
	file, err := r.kept()
	if err == nil {
		if text := denial.Unseen(r.about(file), time.Now()); !overwritten(file, text) {
			err = renew(file, text)
		}
	}
	if err != nil && r.req.Denials != "" {
		_ = os.Remove(r.req.Denials)
	}
}
