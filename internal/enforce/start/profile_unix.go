//go:build unix

package start

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/internal/files/rmtree"
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

// The exit codes of sandbox-exec when the program has not run: the profile is none, or it could
// not be applied or the program not be started (sysexits(3)).
const (
	exitProfile = 65
	exitSystem  = 71
)

// The text that sandbox-exec prints in front of the reason, as github.com/openai/codex (issue
// 45657) and github.com/anthropic-experimental/sandbox-runtime (issue 67) report it.
const (
	saysApply = "sandbox_apply"
	saysStart = "execvp()"
	saysEPERM = "Operation not permitted"
)

// setIDProgram is one that the kernel starts in no sandbox, under any profile
// (forbidden-exec-sugid), since it runs as root.
const setIDProgram = "/bin/ps"

// ended is how a program ended, with the text that it wrote to its standard error.
type ended struct {
	code int
	// signal ended it, zero if none did.
	signal syscall.Signal
	said   string
}

// endOf is the end of a process that was waited for.
func endOf(state *os.ProcessState, said string) ended {
	e := ended{code: state.ExitCode(), said: said}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		e.signal = w.Signal()
	}
	return e
}

// how says in which way it ended.
func (e ended) how() string {
	text := "status " + strconv.Itoa(e.code)
	if e.signal != 0 {
		text = "signal " + unix.SignalName(e.signal)
	}
	if said := strings.TrimSpace(e.said); said != "" {
		text += ": " + said
	}
	return text
}

// seatbeltHost is the part of the running system that a start needs.
type seatbeltHost interface {
	// run runs a program to its end, without input and output.
	run(argv, env []string) (ended, error)
	// spelling returns a path as the file system has it, by its first name.
	spelling(path string) (string, error)
	// userDirectories returns the user's directories for temporary files and for caches, as
	// confstr(3) names them.
	userDirectories() ([]string, error)
	// processes counts those of the user.
	processes() (int, error)
	// descriptors closes all but the standard ones at the next exec, and refuses
	// standard ones that reach the network.
	descriptors() error
	// limit sets the resource limits of this process.
	limit([]backends.Limit) error
	// egress starts the proxy of the run. It is no child of this process. It gets some of the
	// caller's variables.
	egress(p *proxied, environ []string) (egressEnd, error)
	// sweepAfter has a directory removed, and files closed that hold a proxy or a home, when this
	// process is gone, whatever program it has become.
	sweepAfter(dir string, holds []*os.File) error
	// become replaces this process. It returns only errors.
	become(file string, argv, env []string) error
}

// egressEnd is the proxy of a run, as the tool reaches it.
type egressEnd struct {
	port uint16
	// url is the proxy as variables of clients name it.
	url *url.URL
	// hold is a descriptor whose end is that of the proxy.
	hold *os.File
}

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

// makeRun makes the directory of the run, and the tool's temporary directory in the user's own:
// mktemp(1), confstr(3) and NSTemporaryDirectory look there whatever TMPDIR says, below the name in
// DIRHELPER_USER_DIR_SUFFIX (Apple's Libc, _dirhelper; WebKit's processes are given theirs so). The
// directory of that name for caches is made too, since they would fail to make it, and stays closed.
func (s *profileStart) makeRun() error {
	var err error
	if s.directories, err = makeRun(s.launch.Workspace); err != nil {
		return err
	}
	user, err := s.host.userDirectories()
	if err != nil {
		return failed("the user's temporary directory: %w", err)
	}
	for _, dir := range user {
		s.beside = append(s.beside, filepath.Join(dir, filepath.Base(s.dir)+ofTool))
	}
	if err := os.WriteFile(s.dir+besideFile, []byte(strings.Join(s.beside, "\n")), 0o600); err != nil {
		return failed("the temporary directory: %w", err)
	}
	for _, dir := range s.beside {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return failed("the temporary directory: %w", err)
		}
	}
	s.tmp = s.beside[0]
	return s.writeContext(&s.launch)
}

// besideFile lists the directories of the tool in the run's, which the tool cannot reach; ofTool
// ends their names.
const (
	besideFile = "/beside"
	ofTool     = "-tool"
)

// removeRun removes the directory of a run, and those of its tool.
func removeRun(dir string) error {
	list, err := os.ReadFile(dir + besideFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for at := range strings.SplitSeq(string(list), "\n") {
		if filepath.IsAbs(at) && filepath.Base(at) == filepath.Base(dir)+ofTool {
			err = errors.Join(err, rmtree.Remove(at))
		}
	}
	return errors.Join(err, rmtree.Remove(dir))
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

// spelled refuses roots that the file system spells in another way than the profile: in another
// case, or through a link. The system matches its own spelling, so rules that deny would not
// take effect.
func (s *profileStart) spelled() error {
	var err error
	if s.tmp, err = s.host.spelling(s.tmp); err != nil {
		return failed("the temporary directory: %w", err)
	}
	for name, dir := range map[string]string{"workspace": s.spec.Workspace, "private home": s.spec.Home} {
		if dir == "" {
			continue
		}
		is, err := s.host.spelling(dir)
		if err != nil {
			return failed("the %s: %w", name, err)
		}
		if is != dir {
			return failed("the %s %s is %s to the system; build again from there", name, dir, is)
		}
	}
	return nil
}

// makeReal makes a directory, or finds that it is one. A link in its place leads away from the
// places of the profile's rules.
func makeReal(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.Mkdir(dir, 0o777)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory, expected one, since rules name paths below it; build again", dir)
	default:
		return nil
	}
}

// under returns the command that starts words under the profile.
func (s *profileStart) under(words ...string) []string {
	argv := []string{sandboxExec, "-D", "TMP=" + s.tmp}
	if s.spec.Egress != nil {
		argv = append(argv, "-D", start.ParamProxy+"="+strconv.Itoa(int(s.egress.port)))
	}
	return slices.Concat(argv, []string{"-f", s.profile}, words)
}

// checkCanary starts a program that must not start, under the profile that the tool will have. It lies
// in the run's directory or, if a rule reaches that, is a program that no sandbox starts.
// See RATIONALE D73.
func (s *profileStart) checkCanary() error {
	bird := s.dir + "/canary"
	if s.reached(s.dir) {
		bird = setIDProgram
	} else {
		if err := os.WriteFile(bird, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
			return failed("the canary: %w", err)
		}
		// A program that does not start anyway would prove nothing.
		if end, err := s.host.run([]string{bird}, s.env); err != nil || end.code != 0 {
			return failed("the canary does not start without a sandbox: %v %s", err, end.said)
		}
	}
	end, err := s.host.run(s.under(bird), s.env)
	if err != nil {
		return failed("%s: %w", sandboxExec, err)
	}
	if err := end.asRefused(); err != nil {
		return err
	}
	return s.checkStarts()
}

// checkStarts starts a program of the system that the profile permits. A base that lacks something
// that the loader of programs wants ends every program by SIGABRT, without a word.
// See RATIONALE D251.
func (s *profileStart) checkStarts() error {
	if s.spec.Starts == "" {
		return nil
	}
	end, err := s.host.run(s.under(s.spec.Starts), s.env)
	switch {
	case err != nil:
		return failed("%s: %w", sandboxExec, err)
	case end.code != 0:
		return failed("%s does not run under the profile, which permits it (%s): the base lacks something on this release", s.spec.Starts, end.how())
	default:
		return nil
	}
}

// asRefused returns nil for the end of a start that the sandbox refused, and the fault for any
// other.
func (e ended) asRefused() error {
	said := strings.TrimSpace(e.said)
	switch {
	case e.signal == syscall.SIGABRT:
		return failed("the system's compiler of profiles aborted (SIGABRT) and read none of this one: %s", said)
	case e.code == 0:
		return failed("the canary was not denied: the profile is not in force")
	case e.code == exitProfile:
		return failed("the system refuses the profile: %s", said)
	case e.code == exitSystem && strings.Contains(said, saysApply):
		return failed("the system applies no profile here (%s); it puts no sandbox inside another one", said)
	case e.code == exitSystem && strings.Contains(said, saysStart) && strings.Contains(said, saysEPERM):
		return nil
	default:
		return failed("the canary ended in an unexpected way, %s", e.how())
	}
}

// reached reports whether the profile has rules of any kind on a directory above one. The
// compiler writes (subpath …) for each.
func (s *profileStart) reached(dir string) bool {
	for d := dir; ; d = path.Dir(d) {
		if strings.Contains(s.spec.Profile, "(subpath "+start.Quote(d)+")") {
			return true
		}
		if d == "/" {
			return false
		}
	}
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
