package seat

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

	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/enforce/resolved"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/files/rmtree"
	"github.com/accessc/accessc/internal/gate/judge"
	"github.com/accessc/accessc/internal/gate/relay"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/ir"
)

// Seat is the place between a client and a program that is started confined.
type Seat struct {
	Judge *judge.Judge
	cmd   *exec.Cmd
	Log   *relay.Log
	// dir has the artifact, and the temporary directory of the program while it runs. lock is a file in
	// it that is locked for as long as this process lives.
	dir  string
	lock *os.File
}

// New compiles a tool's policy to the artifact of this host, from which another process of
// this program starts it.
// See decision D138.
func New(res *hostfacts.Result, t *ir.Tool, from config.Flags, accept []string, log string) (*Seat, error) {
	if err := resolved.Approved(res, t); err != nil {
		return nil, err
	}
	facts := res.Facts(t)
	artifact, err := resolved.Artifact(t, facts)
	if err != nil {
		return nil, err
	}
	s := &Seat{}
	base, err := start.RunsIn(res.Resolver.Root)
	if err != nil {
		return nil, err
	}
	sweep(base)
	if s.dir, err = os.MkdirTemp(base, Prefix); err != nil {
		return nil, err
	}
	if s.lock, err = Lock(s.dir); err != nil {
		s.Remove()
		return nil, err
	}
	cwd, _ := os.Getwd() // without one the tool starts at the root
	s.Judge = newJudge(t, facts, cwd, s.dir, false)
	if s.Log, err = OpenLog(s.Judge, log, t.Name); err == nil {
		s.cmd, err = s.command(t.Name, artifact, accept, again(res, from))
	}
	if err != nil {
		s.Remove()
	}
	return s, err
}

// again are the flags by which the start finds the configuration, which it compares with the artifact where this
// machine has a maximum.
func again(res *hostfacts.Result, from config.Flags) []string {
	if res.Maximum() == nil {
		return nil
	}
	return append([]string{"--dir=" + res.Resolver.Root}, from.Words()...)
}

// command starts a tool from an artifact, whose hash shows that it has not changed since.
func (s *Seat) command(tool string, artifact []byte, accept, flags []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.dir, start.Artifact)
	if err := os.WriteFile(file, artifact, 0o600); err != nil {
		return nil, err
	}
	args := []string{"exec", "--artifact", file, "--sha256", build.Hash(artifact)}
	args = append(args, flags...)
	for _, gap := range accept {
		args = append(args, "--accept", gap)
	}
	cmd := exec.Command(self, append(args, tool)...)
	cmd.Args[0] = os.Args[0]
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "TMPDIR="+s.dir)
	return cmd, nil
}

// OpenLog opens the audit log, which a policy must not permit to change.
func OpenLog(j *judge.Judge, path, name string) (*relay.Log, error) {
	if err := checkLog(j, path, name); err != nil {
		return nil, err
	}
	log, err := relay.OpenLog(path, name)
	if err != nil {
		return nil, usage.Error{Err: fmt.Errorf("--log: %w", err)}
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
		for _, at := range []string{abs, filepath.Join(workspace.Canonical(filepath.Dir(abs)), filepath.Base(abs))} {
			if j.Access(need, filepath.ToSlash(at)) == nil {
				return usage.Errorf("--log %s: %s can write there; keep the log where its policy grants nothing",
					path, name)
			}
		}
	}
	return nil
}

// Run carries lines until both sides have ended, and returns the status of the program.
func (s *Seat) Run(fromClient, fromServer relay.Decide) (int, error) {
	if err := s.Log.Add(relay.Entry{Event: relay.EventStart}); err != nil {
		return 0, usage.Error{Err: err}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A client that has gone away and a log that may not grow are errors of a write, and no end without a record.
	signal.Notify(make(chan os.Signal, 1), failedWrites...)
	r := relay.Relay{In: os.Stdin, Out: os.Stdout, FromClient: fromClient, FromServer: fromServer}
	status, err := r.Run(s.cmd, signals)
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return 0, &start.Error{Code: start.CodeNotFound, Err: err}
	case err != nil:
		return 0, &start.Error{Code: start.CodeNotRunnable, Err: err}
	}
	_ = s.Log.Add(relay.Entry{Event: relay.EventEnd, Status: &status}) // it has ended in any case
	return status, nil
}

// Remove closes the log and takes the files of the seat away.
func (s *Seat) Remove() {
	_ = s.Log.Close()
	_ = s.lock.Close()
	_ = rmtree.Remove(s.dir)
}

// Prefix begins the names of the directories of seats, lockFile is the file in them.
const (
	Prefix   = "accessc-seat-"
	lockFile = "lock"
)

// startup is longer than a start takes from making a directory to locking it.
const startup = 10 * time.Second

// sweep removes the directories of seats that were killed: those of this user whose lock is free.
func sweep(dir string) {
	stale, _ := filepath.Glob(filepath.Join(dir, Prefix+"*"))
	for _, seat := range stale {
		info, err := os.Lstat(seat)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < startup || !Owned(info) {
			continue
		}
		if lock, err := Lock(seat); err == nil {
			_ = lock.Close() // an open file cannot be removed everywhere
			_ = rmtree.Remove(seat)
		}
	}
}

// Before is a seat before an agent, which is started as it is.
func Before(program string, args []string, log *relay.Log) *Seat {
	s := &Seat{Log: log, cmd: exec.Command(program, args...)}
	s.cmd.Stderr = os.Stderr
	return s
}
