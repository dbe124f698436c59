package start

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/ir"
)

// program is what the process of the tool becomes.
type program struct {
	*run
	// view is the part of the policy about variables, nil where it is still to be made.
	view *ir.View
	// passed are the variables that the policy forwards, nil where they are still to be found.
	passed []string
	argv   []string
	env    []string
	file   string
}

// find makes the tool's environment, of which the proxy of a run changes some variables, and finds the file of its
// command.
func (p *program) find(by *egress) (err error) {
	if p.view == nil {
		p.view = envView(&p.launch, ir.Linux)
	}
	if p.passed == nil {
		p.passed = letThrough(&p.launch, p.view, ir.Linux, p.req.Environ)
	}
	p.env = completed(&p.launch, p.view, ir.Linux, p.passed, p.tmp, cmp.Or(p.context, p.tmp+contextFile))
	if by != nil {
		p.env = by.environ(p.env, nil)
		by.wipe()
	}
	if p.argv, err = p.req.argv(&p.launch); err != nil {
		return err
	}
	p.file, err = find(p.argv[0], p.spec.Workspace, p.env)
	return err
}

// command is the program and its arguments, nil where they are very long.
func (p *program) command() []string {
	const most = 32 << 10
	if len(strings.Join(p.argv, " ")) > most {
		return nil
	}
	return p.argv
}

// childFailed gives the errors of a start the form of an unsupervised start's.
func (p *program) childFailed(err error) error {
	var e *supervisor.StartError
	if errors.As(err, &e) && e.Exec {
		return p.notStarted(e.Err)
	}
	if errors.Is(err, unix.EBUSY) {
		return failed("%w: this process is supervised already, %s%s", err, holder(), p.without())
	}
	return failed("%w", err)
}

// without is advice how to start the tool where it can have no supervisor of its own.
func (p *program) without() string {
	if p.req.remedy() != "" {
		return ""
	}
	accepted := func(c string) bool { return slices.Contains(p.accepted, c) }
	cells := slices.DeleteFunc(slices.Clone(p.spec.Supervision.Gaps), accepted)
	if len(cells) == 0 {
		return ""
	}
	return "; without a supervisor of its own it starts with --accept " + strings.Join(cells, " --accept ")
}

// notStarted explains why execve(2) failed.
func (p *program) notStarted(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Code: CodeNotFound, Err: fmt.Errorf("%s: the file or the interpreter that it names does not exist", p.file)}
	case errors.Is(err, fs.ErrPermission) && p.unlisted():
		return &Error{Code: CodeNotRunnable, Err: fmt.Errorf(
			"%s: the policy of %s lists the programs that start, and not this one; add it to access.commands", p.file, p.spec.Tool)}
	case errors.Is(err, fs.ErrPermission):
		return &Error{Code: CodeNotRunnable, Err: fmt.Errorf(
			"%s: the policy of %s does not let it or its interpreter be read and executed", p.file, p.spec.Tool)}
	default:
		return notRunnable(p.file, err)
	}
}

// notRunnable is the error of a program that the system does not run.
func notRunnable(file string, err error) *Error {
	if errors.Is(err, syscall.ENOEXEC) {
		err = fmt.Errorf("%w: it has no first line such as #!/bin/sh, and is no program for this machine", err)
	}
	return &Error{Code: CodeNotRunnable, Err: fmt.Errorf("%s: %w", file, err)}
}

// unlisted reports whether a table of programs lacks the tool's own, as it does where a shell
// runs the text of a command. The lookup still works here: Landlock restricts no path
// resolution.
func (p *program) unlisted() bool {
	file, err := filepath.EvalSymlinks(p.file)
	listed := func(p landlock.Program) bool { return p.File == file }
	return err == nil && p.spec.Programs != nil && !slices.ContainsFunc(p.spec.Programs, listed)
}
