package start

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// Start starts the tool in a job, at tier 1 in an AppContainer, stays until no process of it
// runs any more, and ends with its status. It returns only when the tool did not start; the
// error is an *Error.
func Start(req Request) error { return req.Advised(begin(req)) }

func begin(req Request) error {
	if req.Spec.Form != backends.Resolved.String() {
		return failed("%w", errPortable)
	}
	all := obstacles()
	if tierOf(all) == tierNone {
		return failed("%s: %s; see accessc doctor", all[0].name, all[0].why)
	}
	_, tier, err := settle(&req, Host{ABI: tierOf(all), Supervises: true})
	if err != nil {
		return err
	}
	dir, err := userdir.Journals()
	if err != nil {
		return failed("%w", err)
	}
	r := &run{req: &req, spec: req.Spec, launch: req.Spec.Launch, tier: tier, journals: journals{dir}}
	if err := req.carry(&r.launch); err != nil {
		return err
	}
	status, err := r.do()
	if err != nil {
		return err
	}
	req.ended(int(status))
	os.Exit(int(status))
	return nil
}

// Sweep undoes the changes of runs whose loader is gone. Every start does it as well.
func Sweep(string, ...string) error {
	dir, err := userdir.Journals()
	if err != nil {
		return err
	}
	j := journals{dir}
	return j.locked(func() error { return j.sweep("") })
}

// run is a start in progress.
type run struct {
	req    *Request
	spec   *winjob.Spec
	launch backends.Launch
	tier   int

	journals journals
	journal  *journal
	id       string
	dir      string // the run's directory, which holds the following ones
	tmp      string
	objects  []*object
	// home is held until the tool has ended.
	home *userdir.Hold
	// container is nil at tier 0.
	container *container
	job       *job
	// console is nil where no standard handle of the loader is a console.
	console *console

	// excuse is nil but in tests, which start tools on a system that does not apply everything:
	// it says of which restrictions that is known.
	excuse func(doubt) bool
}

// do starts the tool, waits and cleans up.
func (r *run) do() (status uint32, err error) {
	if r.id == "" {
		r.id = strings.ToLower(rand.Text()[:16])
	}
	defer func() {
		if e := r.undo(); e != nil && err == nil {
			fmt.Fprintf(r.messages(), "accessc: left for the next start to undo: %v\n", e)
		}
	}()
	if err := r.prepare(); err != nil {
		return 0, err
	}
	p, err := r.suspended()
	if err != nil {
		return 0, asError(err)
	}
	defer p.close()
	doubts, err := verify(r.spec, r.job, r.container, p)
	if err != nil {
		return 0, asError(err)
	}
	for i := 0; r.excuse != nil && i < len(doubts); {
		if r.excuse(doubts[i]) {
			doubts = append(doubts[:i], doubts[i+1:]...)
			continue
		}
		i++
	}
	if err := refuseDoubts(doubts); err != nil {
		return 0, err
	}
	status, err = r.attend(p)
	if err == nil && status != 0 && r.tier > 0 && !r.req.Quiet {
		if refused, e := missing([]preparation{nullDevice}); e == nil && len(refused) > 0 {
			fmt.Fprintln(r.messages(), "accessc: NUL is closed to AppContainers here, which stops git, go and node among others; accessc doctor has the remedy")
		}
	}
	return status, err
}

// prepare opens the journal, makes the directories and, at tier 1, changes the lists. From the
// first change on the journal says how to undo it.
func (r *run) prepare() error {
	return r.journals.locked(func() error {
		if err := r.journals.sweep(r.id); err != nil {
			fmt.Fprintf(r.messages(), "accessc: cannot undo the changes of an earlier run: %v\n", err)
		}
		var err error
		if r.journal, err = r.journals.open(r.id); err != nil {
			return err
		}
		if err := r.directories(); err != nil {
			return err
		}
		r.journal.Directory = r.dir
		if r.tier > 0 {
			return r.contain()
		}
		return r.journal.write()
	})
}

// contain makes the AppContainer and gives its package the grants of the policy.
func (r *run) contain() error {
	name, err := winjob.RunName(r.spec.Container.Security.AppContainerName, r.id)
	if err != nil {
		return failed("%w", err)
	}
	r.journal.Container, r.journal.Package = name, winjob.PackageSID(name)
	if err := r.hold(); err != nil {
		return err
	}
	others, err := r.journals.others(r.id)
	if err != nil {
		return failed("the journal: %w", err)
	}
	defer closeAll(others)
	for _, o := range r.objects {
		r.journal.Objects = append(r.journal.Objects, o.change(others))
	}
	if err := r.journal.write(); err != nil {
		return err
	}
	if r.container, err = newContainer(r.spec.Container, r.id); err != nil {
		return failed("the AppContainer: %w", err)
	}
	return r.grant()
}

// suspended makes the tool's process, which has not run yet.
func (r *run) suspended() (*process, error) {
	env, err := r.environ()
	if err != nil {
		return nil, err
	}
	file, line, err := r.req.program(&r.launch, env)
	if err != nil {
		return nil, err
	}
	if r.tier > 0 {
		if err := r.startable(file); err != nil {
			return nil, err
		}
	}
	t, err := restrictedToken(r.spec.Token)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if r.console == nil {
		if r.console, err = attachConsole(); err != nil {
			return nil, err
		}
	}
	nested, err := inJob(windows.CurrentProcess(), 0)
	if err != nil {
		return nil, err
	}
	return r.nested(ways(nested), t, command{file, line, r.req.place(r.spec.Workspace), env})
}

// startable refuses a program that the container may not execute: the system opens the first one
// with the rights of the loader.
func (r *run) startable(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return &Error{Code: CodeNotRunnable, Err: err}
	}
	defer f.Close()
	list, err := listOf(windows.Handle(f.Fd()))
	if err != nil {
		return &Error{Code: CodeNotRunnable, Err: fmt.Errorf("%s: %w", file, err)}
	}
	if !list.AllowsExecute(r.container.sid.String()) {
		return &Error{Code: CodeNotRunnable, Err: fmt.Errorf("%s: the policy does not let it be executed", file)}
	}
	return refusePosix(file)
}

// way is how the tool's job is made to stand beside or in that of the loader.
type way struct {
	// flags are those of the process.
	flags uint32
	// bare leaves the user interface restrictions out.
	bare bool
}

// ways are tried in this order. A job with user interface restrictions cannot stand in another
// (learn.microsoft.com, "AssignProcessToJobObject"), as those of build machines and editors are. So
// the tool first leaves the job of the loader, whose end still ends it. Where that is refused, it
// stands in it without those restrictions, on which no row of the ledger rests.
// See decision D82.
func ways(nested bool) []way {
	if !nested {
		return []way{{}}
	}
	return []way{{flags: windows.CREATE_BREAKAWAY_FROM_JOB}, {}, {bare: true}}
}

// nested makes the tool's process by the first way that the system takes.
func (r *run) nested(all []way, t windows.Token, c command) (*process, error) {
	var refused error
	for _, w := range all {
		p, err := r.create(w, t, c)
		switch {
		case err == nil && w.bare:
			fmt.Fprintln(r.messages(), "accessc: the job that accessc is in keeps the tool's from the restrictions of the user interface: "+
				"the clipboard, the display settings and the logoff are open to it")
			return p, nil
		case err == nil:
			return p, nil
		}
		refused = err
	}
	return nil, refused
}

func (r *run) create(w way, t windows.Token, c command) (*process, error) {
	r.job.close()
	var err error
	if r.job, err = newJob(r.spec.Job, w.bare); err != nil {
		return nil, err
	}
	a, err := newAttributes(r.job, r.container, r.console)
	if err != nil {
		return nil, err
	}
	defer a.close()
	return create(t, a, c, w.flags)
}

// attend lets the tool run and waits until its job is empty. The tool has another console than
// this process, so an interrupt is handed on: as a key, or as the tool's end where it has no
// keys. An end of the session ends the tool.
func (r *run) attend(p *process) (uint32, error) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case s := <-signals:
				switch {
				case s == syscall.SIGTERM:
					r.job.end(statusTerminated)
				case r.console != nil:
					r.console.interrupt()
				default:
					r.job.end(statusInterrupted)
				}
			case <-done:
				return
			}
		}
	}()
	var deadline time.Time
	if wall := r.wall(); wall > 0 {
		deadline = time.Now().Add(wall)
	}
	if err := p.resume(); err != nil {
		return 0, asError(err)
	}
	if r.req.Started != nil {
		r.req.Started()
	}
	empty, err := r.job.wait(deadline)
	if err == nil && !empty {
		fmt.Fprintln(r.messages(), "accessc: ended: limits.wall_time is over")
		r.job.end(statusKilled)
		_, err = r.job.wait(time.Time{})
	}
	if err != nil {
		// The tool ran, so this is not a failed start; but its end can be made sure.
		r.job.end(statusKilled)
	}
	return p.status()
}

// Statuses of a tool that was ended, as shells have them.
const (
	statusInterrupted = 128 + 2
	statusKilled      = 128 + 9
	statusTerminated  = 128 + 15
)

// wall is how long the tool may run, 0 for any time. It is enforced as well as can be even if
// the requirement is accepted as a gap.
func (r *run) wall() time.Duration {
	for _, l := range r.launch.Limits {
		if l.Kind == ir.LimitWallTime.String() {
			return time.Duration(l.Value) * time.Millisecond
		}
	}
	return 0
}

// undo ends the remaining processes of the tool and takes every change back.
func (r *run) undo() error {
	r.job.close()
	r.console.close()
	r.release()
	defer r.home.Release()
	if r.journal == nil {
		return nil
	}
	return r.journals.locked(func() error {
		others, err := r.journals.others(r.id)
		defer closeAll(others)
		return errors.Join(err, r.journal.undo(others))
	})
}

func (r *run) messages() io.Writer {
	if r.req.Messages == nil {
		return io.Discard
	}
	return r.req.Messages
}

// asError turns an error of a start into an *Error.
func asError(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	return failed("%w", err)
}
