package learn

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// Run runs the command once, as accessc exec does with some flags, and keeps its used and refused operations. The
// evidence is nil if the command did not run.
func (l *Session) Run(flags []string) (*denial.Evidence, int, error) {
	pending, err := l.store.Begin()
	if err != nil {
		return nil, start.CodeFailed, err
	}
	defer pending.Drop()
	cmd, err := l.exec(pending.Path, flags)
	if err != nil {
		return nil, start.CodeFailed, err
	}
	// The terminal's signals reach the command by themselves, and the others are passed on: the
	// operations recorded until then count.
	in := make(chan os.Signal, 16)
	signal.Notify(in, os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(in)
	if err := cmd.Start(); err != nil {
		return nil, start.CodeFailed, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for running := true; running; {
		select {
		case s := <-in:
			if s != os.Interrupt && s != syscall.SIGQUIT {
				_ = cmd.Process.Signal(s)
			}
		case err = <-done:
			running = false
		}
	}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return nil, start.CodeFailed, err
	}
	status := cmd.ProcessState.ExitCode()
	if by, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && by.Signaled() {
		const shells = 128
		status = shells + int(by.Signal())
	}
	kept, err := l.store.Keep(pending)
	if err != nil {
		if status < start.CodeFailed || status > start.CodeNotFound {
			return nil, status, &Unrecorded{err}
		}
		return nil, status, nil
	}
	return kept, status, nil
}

// exec is the command under its policy, by another process of this program.
func (l *Session) exec(evidence string, flags []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := append([]string{"exec", "--trace", "--no-summary", "--evidence=" + evidence}, l.Config.Words()...)
	if l.Config.Dir != "" {
		dir, err := filepath.Abs(l.Config.Dir)
		if err != nil {
			return nil, err
		}
		args = append(args, "-C", dir)
	}
	args = append(args, flags...)
	if l.Default && l.Tool != "" {
		args = append(args, l.asDefault())
	}
	args = append(args, l.namesHosts()...)
	switch {
	case len(l.Command) == 0:
		args = append(args, "--", l.Tool)
	case l.Tool == "":
		args = append(append(args, "--command", "--"), l.Command...)
	default:
		args = append(append(args, "--command", "--tool="+l.Tool, "--"), l.Command...)
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd, nil
}

// path is that of the tool's table in a configuration.
func (l *Session) path() string {
	if l.policy != nil {
		for _, t := range []string{"conversation.tools", ir.ServersTable} {
			if strings.HasPrefix(l.policy.Source.Origin.Path, t+".") {
				return t + "." + tomltext.Key(l.Tool)
			}
		}
	}
	return "tools." + tomltext.Key(l.Tool)
}

// asDefault is a flag of exec that gives the tool the grants of the default policy in the workspace, apart from
// places that its rules close and protected ones. Its rules that lead outside stay, so that a run shows more
// than the one before it.
func (l *Session) asDefault() string {
	if l.policy == nil {
		return "--set=" + l.path() + `.source="local"`
	}
	const all = ", read = true, write = true, execute = true }"
	rules := []string{`{ path = "."` + all}
	for _, r := range l.policy.FS {
		if r.At.Root.Kind == ir.Workspace && r.At.Path != "" && !r.ByName() && r.Caps != 0 && !protects(r.At) {
			rules = append(rules, "{ path = "+tomltext.String(r.At.Path)+all)
		}
	}
	return "--set=" + l.path() + ".access.fs=[" + strings.Join(rules, ", ") + "]"
}

// protects reports whether a place is protected, or leads to one that is.
func protects(at ir.Location) bool {
	covers := func(p ir.ProtectedPath) bool { return p.Covers(at) || ir.In(p.Path).Under(at) }
	return slices.ContainsFunc(ir.ProtectedPaths(), covers)
}

// namesHosts is a flag of exec that grants nothing: it permits and denies one name that does not
// exist (RFC 6761, 6.4). A policy with such rules has its requests carried by the egress proxy, which
// judges hosts by name. Without a rule on a name the kernel refuses a socket, and nothing tells where
// to. Empty where the policy names hosts anyway.
// See decision D187.
func (l *Session) namesHosts() []string {
	byName := func(r ir.NetRule) bool { return r.Allow && !r.Listen && r.Host.Kind != ir.HostAddr }
	if l.Tool == "" || l.policy != nil && slices.ContainsFunc(l.policy.Net, byName) {
		return nil
	}
	const none = `{ host = "recording.invalid" }`
	return []string{"--set=" + l.path() + `.access.net=[{ host = "recording.invalid", allow = true }, ` + none + "]"}
}

// Unrecorded says that a run has ended, and why nothing of it counts.
type Unrecorded struct{ Err error }

// Error implements error.
func (u *Unrecorded) Error() string {
	return fmt.Sprintf("nothing was recorded of this run: %v", u.Err)
}
