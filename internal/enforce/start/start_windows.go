package start

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/host/userdir"
)

// Start starts the tool in a job, at tier 1 in an AppContainer, stays until no process of it
// runs any more, and ends with its status. It returns only when the tool did not start; the
// error is an *Error.
func Start(req Request) error { return req.Advised(begin(req)) }

func begin(req Request) error {
	if err := req.within(); err != nil {
		return err
	}
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
	s := newStarting(&run{req: &req, spec: req.Spec, launch: req.Spec.Launch, tier: tier}, journals{dir})
	if err := req.carry(&s.launch); err != nil {
		return err
	}
	status, err := s.do()
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

// starting is a start in progress: what it changes here, and the tool.
type starting struct {
	*run
	*changes
	*tool
	// excuse is nil but in tests, which start tools on a system that does not apply everything:
	// it says of which restrictions that is known.
	excuse func(doubt) bool
}

func newStarting(r *run, j journals) *starting {
	return &starting{run: r, changes: &changes{run: r, journals: j}, tool: &tool{run: r}}
}

// do starts the tool, waits and cleans up.
func (s *starting) do() (status uint32, err error) {
	if s.id == "" {
		s.id = strings.ToLower(rand.Text()[:16])
	}
	defer func() {
		if e := s.undo(); e != nil && err == nil {
			fmt.Fprintf(s.messages(), "accessc: left for the next start to undo: %v\n", e)
		}
	}()
	if err := s.prepare(); err != nil {
		return 0, err
	}
	p, err := s.suspended(s.container)
	if err != nil {
		return 0, asError(err)
	}
	defer p.close()
	doubts, err := verify(s.spec, s.job, s.container, p)
	if err != nil {
		return 0, asError(err)
	}
	for i := 0; s.excuse != nil && i < len(doubts); {
		if s.excuse(doubts[i]) {
			doubts = append(doubts[:i], doubts[i+1:]...)
			continue
		}
		i++
	}
	if err := refuseDoubts(doubts); err != nil {
		return 0, err
	}
	status, err = s.attend(p)
	if err == nil && status != 0 && s.tier > 0 && !s.req.Quiet {
		if refused, e := missing([]preparation{nullDevice}); e == nil && len(refused) > 0 {
			fmt.Fprintln(s.messages(), "accessc: NUL is closed to AppContainers here, which stops git, go and node among others; accessc doctor has the remedy")
		}
	}
	return status, err
}

// undo ends the remaining processes of the tool and takes every change back.
func (s *starting) undo() error {
	s.job.close()
	s.console.close()
	return s.changes.undo()
}

// asError turns an error of a start into an *Error.
func asError(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	return failed("%w", err)
}
