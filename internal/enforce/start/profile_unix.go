//go:build unix

package start

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// A start on macOS: the profile goes to the system's own program, which applies it to itself
// and becomes the program that it is told to start. Between applying and becoming nothing of
// this program runs, so the canary is a start of its own under the same profile, before the
// tool's. All of this is here; the calls that only macOS has are behind seatbeltHost, so the
// rest is tested wherever there are descriptors and paths.

// sandboxExec is the system's program, by the one path that only the system can write to
// (sandbox-exec(1)).
const sandboxExec = "/usr/bin/sandbox-exec"

// profileStart is a start in progress.
type profileStart struct {
	req    *Request
	spec   *start.Spec
	launch backends.Launch
	host   seatbeltHost
	// home is held until the tool has ended.
	home *userdir.Hold
	directories
	env    []string
	argv   []string
	egress egressEnd
	// profile is the file that sandbox-exec reads.
	profile string
}

// startProfile applies a profile and becomes the tool. It returns only when the tool
// did not start.
func startProfile(req *Request, spec *start.Spec, host seatbeltHost) error {
	if err := req.within(); err != nil {
		return err
	}
	if spec.Form != backends.Resolved.String() {
		return failed("%w", errPortable)
	}
	s := &profileStart{req: req, spec: spec, launch: spec.Launch, host: host}
	if _, err := byProfile.agree(req, &s.launch, Host{}); err != nil {
		return err
	}
	if err := req.carry(&s.launch); err != nil {
		return err
	}
	if err := host.descriptors(); err != nil {
		return failed("%w", err)
	}
	defer func() { s.home.Release() }()
	err := s.prepare()
	if err == nil {
		err = s.checkCanary()
	}
	if err == nil {
		err = s.leave()
	}
	if s.egress.hold != nil {
		_ = s.egress.hold.Close()
	}
	s.discard()
	return err
}

// byProfile is how a profile meets requirements: by itself.
var byProfile = means{unsupervised, start.Sentences, lastLevel}

// prepare makes the directories that the profile expects, and finds the program.
func (s *profileStart) prepare() error {
	var err error
	if s.home, err = makeHome(&s.launch); err != nil {
		return err
	}
	if err := s.makeRun(); err != nil {
		return err
	}
	if err := s.spelled(); err != nil {
		return err
	}
	for _, d := range s.spec.Directories {
		if err := makeReal(d); err != nil {
			return failed("%w", err)
		}
	}
	s.profile = s.dir + "/seatbelt.sb"
	if err := os.WriteFile(s.profile, []byte(s.spec.Profile), 0o600); err != nil {
		return failed("the profile: %w", err)
	}
	s.env = environ(&s.launch, ir.Darwin, s.req.Environ, s.tmp, s.tmp+contextFile)
	if err := s.openEgress(); err != nil {
		return err
	}
	if s.argv, err = s.req.argv(&s.launch); err != nil {
		return err
	}
	// sandbox-exec starts a program by its path, and gives it that as its first word.
	if s.argv[0], err = find(s.argv[0], s.spec.Workspace, s.env); err != nil {
		return err
	}
	if err := os.Chdir(s.req.place(s.spec.Workspace)); err != nil {
		return failed("the working directory: %w", err)
	}
	return nil
}

// openEgress starts the proxy where the profile needs one. Its variables take the place of those
// that the policy forwards: a proxy of the caller is not reached from inside.
func (s *profileStart) openEgress() error {
	if s.spec.Egress == nil {
		return nil
	}
	p, err := newProxied(s.req, s.spec.Egress, &s.launch, s.tmp, ir.Darwin)
	if err == nil {
		s.egress, err = s.host.egress(p, s.req.Environ)
	}
	if err != nil {
		return failed("the proxy for the hosts of the policy: %w", err)
	}
	s.env = p.environ(s.env, s.egress.url)
	p.wipe()
	return nil
}

// leave becomes the tool.
func (s *profileStart) leave() error {
	holds := slices.DeleteFunc([]*os.File{s.egress.hold, s.home.File()}, func(f *os.File) bool { return f == nil })
	if err := s.host.sweepAfter(s.dir, holds); err != nil {
		return failed("%w", err)
	}
	if err := s.room(); err != nil {
		return err
	}
	if err := s.host.limit(s.spec.Limits); err != nil {
		return failed("limits: %w", err)
	}
	return failed("%s: %w", sandboxExec, s.host.become(sandboxExec, s.under(s.argv...), s.env))
}

// room refuses a limit on processes that the user's own processes fill already: the system counts
// all of them (setrlimit(2)), so no program of the tool could start another one.
func (s *profileStart) room() error {
	for _, l := range s.spec.Limits {
		if l.Kind != ir.LimitProcesses.String() {
			continue
		}
		running, err := s.host.processes()
		if err != nil {
			return failed("the user's processes: %w", err)
		}
		if l.Value <= uint64(running) {
			return failed("limits.processes = %d: this user has %d processes already, and this system counts all of them", l.Value, running)
		}
	}
	return nil
}

// keptOpen is the number of descriptors that a tool has from its start.
const keptOpen = 3

// closeOthers has every descriptor but the standard ones closed by the next exec.
func closeOthers() error {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fmt.Errorf("closing inherited descriptors: %w", err)
	}
	for _, e := range entries {
		var fd int
		if _, err := fmt.Sscan(e.Name(), &fd); err == nil && fd >= keptOpen {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
