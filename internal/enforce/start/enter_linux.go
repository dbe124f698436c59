package start

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/enforce/start/inherited"
)

// EnterCommand is the hidden command that becomes the tool inside of a sandbox that another program
// has made.
const EnterCommand = "__enter"

// enterReady is the word that it writes before it becomes the tool.
const enterReady = "ready "

// Enter becomes the tool: args are a directory that must not be open, the one to start in, whether PWD is the
// tool's, its limits, the file of its program and its words. An error is written to the descriptor for reports.
func Enter(args []string) error {
	const fixed = 5
	if len(args) <= fixed {
		return failed("too few words")
	}
	err := enter(args[0], args[1], args[2] == "true", args[3], args[4], args[fixed:])
	code := CodeFailed
	var e *Error
	if errors.As(err, &e) {
		code, err = e.Code, e.Err
	}
	_, _ = unix.Write(enterReport, fmt.Appendf(nil, "%d %v", code, err))
	return &Error{Code: code, Err: err}
}

func enter(canary, dir string, pwd bool, limitText, file string, argv []string) error {
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return failed("closing inherited descriptors: %w", err)
	}
	if canary != "" {
		if fd, err := unix.Open(canary, unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
			_ = unix.Close(fd)
			return failed("%s can be listed in the sandbox, which must not be", canary)
		}
	}
	if err := checkShown(enterPlaces); err != nil {
		return err
	}
	if err := os.Chdir(dir); err != nil {
		return failed("the working directory is not in the sandbox: %w", err)
	}
	var list []backends.Limit
	if err := json.Unmarshal([]byte(limitText), &list); err != nil {
		return failed("limits: %w", err)
	}
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return !pwd && strings.HasPrefix(kv, "PWD=") })
	if err := setLimits(list); err != nil {
		return failed("limits: %w", err)
	}
	if _, err := unix.Write(enterReport, []byte(enterReady)); err != nil {
		return failed("%w", err)
	}
	err := syscall.Exec(file, argv, env)
	if errors.Is(err, os.ErrNotExist) {
		return &Error{Code: CodeNotFound, Err: fmt.Errorf("%s: neither the file nor the interpreter that it names is in the sandbox", file)}
	}
	return &Error{Code: CodeNotRunnable, Err: fmt.Errorf("%s: %w", filepath.Clean(file), err)}
}

// setLimits sets the limits of a tool that this process is about to become.
func setLimits(list []backends.Limit) error {
	set, err := rlimits(list, inherited.Files())
	if err != nil {
		return err
	}
	// A garbage collection would die of memory that this process does not get.
	debug.SetGCPercent(-1)
	for _, l := range set {
		if err := syscall.Setrlimit(l.Resource, (*syscall.Rlimit)(&l.Value)); err != nil {
			return err
		}
	}
	return nil
}
