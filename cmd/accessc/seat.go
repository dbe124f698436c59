package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/files/rmtree"
	"github.com/accessc/accessc/internal/gate/invocations"
	"github.com/accessc/accessc/internal/gate/judge"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/gate/relay"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
)

// sessionID is the value of --session. An empty one, such as that of a variable which is not set, is
// an error: it would count nothing.
type sessionID string

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *sessionID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("found an empty ID, which would count nothing; leave the flag out if that is meant")
	}
	*s = sessionID(text)
	return nil
}

// counted is the session of a name in a workspace; one of this process alone without a name.
func counted(res *hostfacts.Result, id sessionID) (*invocations.Session, error) {
	if id == "" {
		return invocations.New(), nil
	}
	dir, err := userdir.For(res.Resolver.Root)
	if err != nil {
		return nil, err
	}
	s, err := invocations.Open(dir.Sessions(), string(id))
	if err != nil {
		return nil, usageError{Err: fmt.Errorf("--session: %w", err)}
	}
	return s, nil
}

// seat is the place between a client and a program that is started confined.
type seat struct {
	judge *judge.Judge
	cmd   *exec.Cmd
	log   *relay.Log
	// dir has the artifact, and the temporary directory of the program while it runs. lock is a file in
	// it that is locked for as long as this process lives.
	dir  string
	lock *os.File
}

// newSeat compiles a tool's policy to the artifact of this host, from which another process of
// this program starts it.
// See RATIONALE D138.
func newSeat(res *hostfacts.Result, t *ir.Tool, accept []string, log string) (*seat, error) {
	if err := approved(res, t); err != nil {
		return nil, err
	}
	facts := res.Facts(t)
	artifact, err := resolvedArtifact(t, facts)
	if err != nil {
		return nil, err
	}
	s := &seat{}
	base, err := start.RunsIn(res.Resolver.Root)
	if err != nil {
		return nil, err
	}
	sweepSeats(base)
	if s.dir, err = os.MkdirTemp(base, seatPrefix); err != nil {
		return nil, err
	}
	if s.lock, err = lockSeat(s.dir); err != nil {
		s.remove()
		return nil, err
	}
	cwd, _ := os.Getwd() // without one the tool starts at the root
	s.judge = newJudge(t, facts, cwd, s.dir, false)
	if s.log, err = openLog(s.judge, log, t.Name); err == nil {
		s.cmd, err = s.command(t.Name, artifact, accept)
	}
	if err != nil {
		s.remove()
	}
	return s, err
}

// command starts a tool from an artifact, whose hash shows that it has not changed since.
func (s *seat) command(tool string, artifact []byte, accept []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.dir, start.Artifact)
	if err := os.WriteFile(file, artifact, 0o600); err != nil {
		return nil, err
	}
	args := []string{"exec", "--artifact", file, "--sha256", build.Hash(artifact)}
	for _, gap := range accept {
		args = append(args, "--accept", gap)
	}
	cmd := exec.Command(self, append(args, tool)...)
	cmd.Args[0] = os.Args[0]
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "TMPDIR="+s.dir)
	return cmd, nil
}

// newJudge asks a tool's policy on this host, for a program in a directory of the workspace. temp
// contains the temporary directory of the run, empty for none. An agent is not confined, so its home
// is the user's own.
func newJudge(t *ir.Tool, facts ir.Facts, dir, temp string, agent bool) *judge.Judge {
	roots := *facts.Bindings
	if temp != "" {
		roots.Temp = filepath.ToSlash(canonical(temp))
	}
	j := &judge.Judge{View: ir.NewView(t, hostfacts.Platform(), facts), Roots: &roots, Dir: roots.Workspace, Home: roots.Home}
	if at := filepath.ToSlash(canonical(dir)); dir != "" && roots.Locate(at).Root.Kind == ir.Workspace {
		j.Dir = at
	}
	if t.Home == ir.HomeReal || agent {
		home, _ := os.UserHomeDir() // without one there is no ~
		j.Home = filepath.ToSlash(home)
	}
	return j
}

// newActions asks a tool's policy and a ruleset, nil for none, about an agent's actions. program is
// the tool's own, as facts have it.
func newActions(res *hostfacts.Result, files *judge.Judge, program *ir.Location, rules *ruleset.Set) *action.Judge {
	asker := resolve.Asker{Bindings: files.Roots, Program: program, Lookup: res.Lookup(files.View.Tool)}
	return &action.Judge{Files: files, Asker: asker, Rules: rules}
}

// openLog opens the audit log, which a policy must not permit to change.
func openLog(j *judge.Judge, path, name string) (*relay.Log, error) {
	if err := checkLog(j, path, name); err != nil {
		return nil, err
	}
	log, err := relay.OpenLog(path, name)
	if err != nil {
		return nil, usageError{Err: fmt.Errorf("--log: %w", err)}
	}
	return log, nil
}

// checkLog refuses an audit log that a policy permits to change, an empty path being none.
func checkLog(j *judge.Judge, path, name string) error {
	if path == "" {
		return nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	for _, need := range []ir.Capability{ir.Update, ir.Delete} {
		for _, at := range []string{abs, filepath.Join(canonical(filepath.Dir(abs)), filepath.Base(abs))} {
			if j.Access(need, filepath.ToSlash(at)) == nil {
				return usagef("--log %s: %s can write there; keep the log where its policy grants nothing", path, name)
			}
		}
	}
	return nil
}

// run carries lines until both sides have ended, and ends as the program did.
func (s *seat) run(fromClient, fromServer relay.Decide) error {
	if err := s.log.Add(relay.Entry{Event: relay.EventStart}); err != nil {
		return notStarted(usageError{Err: err})
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A client that has gone away and a log that may not grow are errors of a write, and no end without a record.
	signal.Notify(make(chan os.Signal, 1), failedWrites...)
	r := relay.Relay{In: os.Stdin, Out: os.Stdout, FromClient: fromClient, FromServer: fromServer}
	status, err := r.Run(s.cmd, signals)
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return &start.Error{Code: start.CodeNotFound, Err: err}
	case err != nil:
		return &start.Error{Code: start.CodeNotRunnable, Err: err}
	}
	_ = s.log.Add(relay.Entry{Event: relay.EventEnd, Status: &status}) // it has ended in any case
	if status != 0 {
		return exit(status)
	}
	return nil
}

// remove closes the log and takes the files of the seat away.
func (s *seat) remove() {
	_ = s.log.Close()
	_ = s.lock.Close()
	_ = rmtree.Remove(s.dir)
}

// seatPrefix begins the names of the directories of seats, seatLock is the file in them.
const (
	seatPrefix = "accessc-seat-"
	seatLock   = "lock"
)

// startup is longer than a start takes from making a directory to locking it.
const startup = 10 * time.Second

// sweepSeats removes the directories of seats that were killed: those of this user whose lock is free.
func sweepSeats(dir string) {
	stale, _ := filepath.Glob(filepath.Join(dir, seatPrefix+"*"))
	for _, seat := range stale {
		info, err := os.Lstat(seat)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < startup || !ownSeat(info) {
			continue
		}
		if lock, err := lockSeat(seat); err == nil {
			_ = lock.Close() // an open file cannot be removed everywhere
			_ = rmtree.Remove(seat)
		}
	}
}
