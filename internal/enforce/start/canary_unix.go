//go:build unix

package start

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/seatbelt/start"
)

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
// See decision D67.
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
// See decision D67.
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
