package start

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// tool is the process of a run, in a job.
type tool struct {
	*run
	// in is the AppContainer that the process starts in, nil at tier 0.
	in  *container
	job *job
	// console is nil where no standard handle of the loader is a console.
	console *console
}

// suspended makes the tool's process, which has not run yet.
func (l *tool) suspended(in *container) (*process, error) {
	env, err := l.environ()
	if err != nil {
		return nil, err
	}
	file, line, err := l.req.program(&l.launch, env)
	if err != nil {
		return nil, err
	}
	if l.tier > 0 {
		if err := startable(file, in); err != nil {
			return nil, err
		}
	}
	t, err := restrictedToken(l.spec.Token)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if l.console == nil {
		if l.console, err = attachConsole(); err != nil {
			return nil, err
		}
	}
	nested, err := inJob(windows.CurrentProcess(), 0)
	if err != nil {
		return nil, err
	}
	l.in = in
	return l.nested(ways(nested), t, command{file, line, l.req.place(l.spec.Workspace), env})
}

// startable refuses a program that the container may not execute: the system opens the first one
// with the rights of the loader.
func startable(file string, in *container) error {
	f, err := os.Open(file)
	if err != nil {
		return &Error{Code: CodeNotRunnable, Err: err}
	}
	defer f.Close()
	list, err := listOf(windows.Handle(f.Fd()))
	if err != nil {
		return &Error{Code: CodeNotRunnable, Err: fmt.Errorf("%s: %w", file, err)}
	}
	if !list.AllowsExecute(in.sid.String()) {
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
func (l *tool) nested(all []way, t windows.Token, c command) (*process, error) {
	var refused error
	for _, w := range all {
		p, err := l.create(w, t, c)
		switch {
		case err == nil && w.bare:
			fmt.Fprintln(l.messages(), "accessc: the job that accessc is in keeps the tool's from the restrictions of the user interface: "+
				"the clipboard, the display settings and the logoff are open to it")
			return p, nil
		case err == nil:
			return p, nil
		}
		refused = err
	}
	return nil, refused
}

func (l *tool) create(w way, t windows.Token, c command) (*process, error) {
	l.job.close()
	var err error
	if l.job, err = newJob(l.spec.Job, w.bare); err != nil {
		return nil, err
	}
	a, err := newAttributes(l.job, l.in, l.console)
	if err != nil {
		return nil, err
	}
	defer a.close()
	return create(t, a, c, w.flags)
}

// attend lets the tool run and waits until its job is empty. The tool has another console than
// this process, so an interrupt is handed on: as a key, or as the tool's end where it has no
// keys. An end of the session ends the tool.
func (l *tool) attend(p *process) (uint32, error) {
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
					l.job.end(statusTerminated)
				case l.console != nil:
					l.console.interrupt()
				default:
					l.job.end(statusInterrupted)
				}
			case <-done:
				return
			}
		}
	}()
	var deadline time.Time
	if wall := l.wall(); wall > 0 {
		deadline = time.Now().Add(wall)
	}
	if err := p.resume(); err != nil {
		return 0, asError(err)
	}
	if l.req.Started != nil {
		l.req.Started()
	}
	empty, err := l.job.wait(deadline)
	if err == nil && !empty {
		fmt.Fprintln(l.messages(), "accessc: ended: limits.wall_time is over")
		l.job.end(statusKilled)
		_, err = l.job.wait(time.Time{})
	}
	if err != nil {
		// The tool ran, so this is not a failed start; but its end can be made sure.
		l.job.end(statusKilled)
	}
	return p.status()
}

// Statuses of a tool that was ended, as shells have them.
const (
	statusInterrupted = 128 + 2
	statusKilled      = 128 + 9
	statusTerminated  = 128 + 15
)
