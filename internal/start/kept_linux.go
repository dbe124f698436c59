package start

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/supervisor/denial"
	"github.com/accessc/accessc/ir"
)

// sayRefused keeps the refusals of a run that has ended, and prints the first of them after a
// failed run and their number after any other.
// See RATIONALE D175.
func (r *run) sayRefused(log *denial.Log, status syscall.WaitStatus, ended time.Time) {
	more := "accessc denials shows each, and what would allow it"
	if err := r.keep(log, status, ended); err != nil {
		more = "exec --report FILE lists each"
	}
	switch {
	case r.req.Quiet:
	case status.Exited() && status.ExitStatus() == 0:
		log.Note(r.req.Messages, more)
	default:
		log.Summary(r.req.Messages, more)
	}
}

// reading are the rights with which a tool could read a file.
var reading = landlock.FSMask([]landlock.Right{landlock.ReadFile, landlock.ReadDir})

// keep puts the refusals of the run in place of those of the tool's run before, where the tool
// can neither read nor change them.
func (r *run) keep(log *denial.Log, status syscall.WaitStatus, ended time.Time) error {
	if r.req.Denials == "" || !r.supervised {
		return os.ErrInvalid
	}
	if err := os.MkdirAll(filepath.Dir(r.req.Denials), 0o700); err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(r.req.Denials))
	if err != nil {
		return err
	}
	file := filepath.Join(dir, filepath.Base(r.req.Denials))
	if r.grantOn(file, changing|reading, ir.Write.With(ir.Read)) != "" {
		return os.ErrPermission
	}
	text := log.Keep(denial.Kept{
		// The file of no tool is that of commands without a name (userdir.Dir.Denials).
		Tool: r.spec.Tool, Unnamed: filepath.Base(file) == ".json", Status: exitStatus(status), Traced: r.req.Trace,
	}, ended)
	return renew(file, text)
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

// forget removes the refusals of an earlier run of a tool that nothing watches this time: they
// would be taken for those of this run.
func (r *run) forget() {
	if r.req.Denials != "" {
		_ = os.Remove(r.req.Denials)
	}
}

// exitStatus is the status of a run as a shell gives it.
func exitStatus(status syscall.WaitStatus) int {
	if status.Signaled() {
		const shells = 128
		return shells + int(status.Signal())
	}
	return status.ExitStatus()
}
