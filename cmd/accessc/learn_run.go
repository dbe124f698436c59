package main

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
	"github.com/accessc/accessc/internal/host/prompt"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/propose/learn"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// learn runs the command, once or until nothing is in its way.
func (l *learner) learn() error {
	rules := 0
	for round := 0; ; round++ {
		last, status, err := l.run()
		if err != nil || last == nil {
			return l.ended(status, err)
		}
		if err := l.load(); err != nil {
			return l.ended(status, err)
		}
		found, err := l.propose(l.kept)
		if err != nil {
			return l.ended(status, err)
		}
		own := l.From == "policy"
		green := own && found.plans() == 0 && !found.waits()
		if (found.plans() > 0 || !own) && round < l.UntilGreen {
			if err := l.next(found, status); err != nil {
				return l.ended(status, err)
			}
			rules += found.rules()
			continue
		}
		if err = l.show(found); err == nil && l.Apply {
			err = l.apply(found)
		}
		if err == nil && round < maxAgain && l.mayRepeat(found, status) && l.again(status) {
			if err = l.find(); err == nil {
				continue
			}
		}
		if l.UntilGreen > 0 {
			l.sayRounds(round, rules, green)
			if !green && status == 0 {
				status = exitFindings
			}
		}
		return l.ended(status, err)
	}
}

// maxAgain bounds how often a command that has failed is run again.
const maxAgain = 3

// mayRepeat reports whether the command failed by itself, and rules that were written permit something that it was
// refused: the run shows nothing of its further operations.
// See decision D187.
func (l *learner) mayRepeat(found *learned, status int) bool {
	refused := func(x lesson) bool {
		return x.Plan != nil && slices.ContainsFunc(x.Plan.Added, func(a allow.Added) bool {
			return slices.ContainsFunc(a.Entries, func(i int) bool {
				o := found.joined.Operations[x.index[i]]
				return o.Refused > 0 || o.Sought
			})
		})
	}
	return l.Apply && l.UntilGreen == 0 && !l.JSON && learn.Failed(status) && slices.ContainsFunc(found.lessons, refused)
}

// again asks whether to run the command once more; --yes answers. Without a terminal it is not.
func (l *learner) again(status int) bool {
	text := fmt.Sprintf("the command ended with status %d; the rules permit more by now, so it shows more if it runs again", status)
	if l.Yes {
		fmt.Fprintln(l.stderr, text)
		return true
	}
	t, err := prompt.Open()
	if err != nil {
		fmt.Fprintln(l.stderr, text)
		return false
	}
	defer t.Close()
	yes, err := t.Confirm(text+"\n", "Run it again?")
	return yes && err == nil
}

// next writes the rules, and prepares the run that follows. One that succeeded under the default policy is followed
// by runs under the tool's own.
func (l *learner) next(found *learned, status int) error {
	if err := l.apply(found); err != nil {
		return err
	}
	if status == 0 {
		l.From = "policy"
	}
	return l.find()
}

// sayRounds prints how the rounds have ended.
func (l *learner) sayRounds(rounds, rules int, green bool) {
	written := fmt.Sprintf("%s in %s", plural.Count(rules, "rule"), plural.Count(rounds, "round"))
	if !green {
		fmt.Fprintf(l.stderr, "after %s the last run was refused more that rules would permit\n", written)
		return
	}
	fmt.Fprintf(l.stderr, "after %s the last run was refused nothing that rules would permit\n", written)
}

// ended is the status of the command, unless accessc has failed.
func (l *learner) ended(status int, err error) error {
	switch {
	case err != nil:
		return notStarted(err)
	case status != 0:
		return exit(status)
	default:
		return nil
	}
}

// run runs the command once and keeps its used and refused operations. The evidence is nil if
// the command did not run.
func (l *learner) run() (*denial.Evidence, int, error) {
	pending, err := l.store.Begin()
	if err != nil {
		return nil, start.CodeFailed, err
	}
	defer pending.Drop()
	cmd, err := l.exec(pending.Path)
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
			fmt.Fprintf(l.stderr, "nothing was recorded of this run: %v\n", err)
		}
		return nil, status, nil
	}
	return kept, status, nil
}

// exec is the command under its policy, by another process of this program.
func (l *learner) exec(evidence string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := append([]string{"exec", "--trace", "--no-summary", "--evidence=" + evidence}, l.layers()...)
	if l.Dir != "" {
		dir, err := filepath.Abs(l.Dir)
		if err != nil {
			return nil, err
		}
		args = append(args, "-C", dir)
	}
	if l.For != 0 {
		args = append(args, "--for="+l.For.String())
	}
	for _, gap := range l.Accept {
		args = append(args, "--accept="+gap)
	}
	if l.From == "default" && l.tool != "" {
		args = append(args, l.asDefault())
	}
	args = append(args, l.namesHosts()...)
	switch {
	case len(l.command) == 0:
		args = append(args, "--", l.tool)
	case l.tool == "":
		args = append(append(args, "--command", "--"), l.command...)
	default:
		args = append(append(args, "--command", "--tool="+l.tool, "--"), l.command...)
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd, nil
}

// path is that of the tool's table in a configuration.
func (l *learner) path() string {
	if l.policy != nil {
		for _, t := range []string{"conversation.tools", ir.ServersTable} {
			if strings.HasPrefix(l.policy.Source.Origin.Path, t+".") {
				return t + "." + tomltext.Key(l.tool)
			}
		}
	}
	return "tools." + tomltext.Key(l.tool)
}

// asDefault is a flag of exec that gives the tool the grants of the default policy in the workspace, apart from
// places that its rules close and protected ones. Its rules that lead outside stay, so that a run shows more
// than the one before it.
func (l *learner) asDefault() string {
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
	return slices.ContainsFunc(ir.ProtectedPaths(), func(p ir.ProtectedPath) bool { return p.Covers(at) || ir.In(p.Path).Under(at) })
}

// namesHosts is a flag of exec that grants nothing: it permits and denies one name that does not
// exist (RFC 6761, 6.4). A policy with such rules has its requests carried by the egress proxy, which
// judges hosts by name. Without a rule on a name the kernel refuses a socket, and nothing tells where
// to. Empty where the policy names hosts anyway.
// See decision D187.
func (l *learner) namesHosts() []string {
	if l.tool == "" || l.policy != nil && slices.ContainsFunc(l.policy.Net, func(r ir.NetRule) bool { return r.Allow && !r.Listen && r.Host.Kind != ir.HostAddr }) {
		return nil
	}
	const none = `{ host = "recording.invalid" }`
	return []string{"--set=" + l.path() + `.access.net=[{ host = "recording.invalid", allow = true }, ` + none + "]"}
}
