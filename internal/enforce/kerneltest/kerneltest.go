package kerneltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/files/rmtree"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/maximum"
	"github.com/accessc/accessc/ir"
)

// LoadCommand and TryCommand are hidden commands of this program: the first starts a trial, the
// second is the program under trial.
const (
	LoadCommand = "__trial"
	TryCommand  = "__try"
)

// Trial is one tool's policy on this host.
type Trial struct {
	Tool  *ir.Tool
	Facts ir.Facts
	// Lookup finds a program by name, as the policy's PATH has it.
	Lookup func(string) (string, bool)
	// Compile turns a policy into the artifact that runs.
	Compile func(*ir.Tool, ir.Facts) ([]byte, error)
	// Accept names the gaps that are accepted, and Under is start.Request's.
	Accept []string
	Under  maximum.Stamp
}

// Outcome is the kernel's answer.
type Outcome struct {
	// Tried is false where there was nothing to try; Why is the reason.
	Tried   bool
	Allowed bool
	// Errno is the error of the call, empty for none.
	Errno string
	Why   string
	// Verdict is the policy's answer to the tried operation: with the paths as the kernel was
	// given them, on the stage.
	Operation ir.Operation
	Verdict   ir.Verdict
	View      *ir.View
}

func untried(format string, args ...any) Outcome { return Outcome{Why: fmt.Sprintf(format, args...)} }

// Ask tries one question. The error is a *start.Error where this host cannot start the
// tool.
func (t *Trial) Ask(q resolve.Question) (Outcome, error) {
	dir, err := os.MkdirTemp("", "accessc-trial-*")
	if err != nil {
		return Outcome{}, err
	}
	defer rmtree.Remove(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return Outcome{}, err
	}
	s, err := newStage(filepath.ToSlash(dir), t.Tool, t.Facts.Bindings)
	if err != nil {
		return Outcome{}, err
	}
	a, why, err := t.attempt(s, q)
	if err != nil || why != "" {
		return untried("%s", why), err
	}
	done, err := a.open(s)
	if err != nil {
		return Outcome{}, err
	}
	defer done()
	return t.try(s, q, a)
}

// try starts the trial and reads its answer.
func (t *Trial) try(s *stage, q resolve.Question, a Attempt) (Outcome, error) {
	facts := t.Facts
	facts.Bindings = s.here
	self, err := os.Executable()
	if err != nil {
		return Outcome{}, err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return Outcome{}, err
	}
	program := s.here.Locate(filepath.ToSlash(self))
	facts.Program = &program
	tool := *t.Tool
	tool.Limits = nil // the program under trial is not the tool
	tool.Command, tool.Commands = nil, t.programs()
	out := Outcome{View: ir.NewView(&tool, ir.Linux, facts)}
	if out.Operation, err = t.operation(s, q); err != nil {
		return untried("%v", err), nil
	}
	out.Verdict = out.View.Decide(out.Operation)
	if c, ok := out.Operation.(ir.Connect); ok && !out.Verdict.Allowed() && reaches(out.View, c.To) {
		return untried("only a request inside of the connection tells"), nil
	}
	spec, err := t.Compile(&tool, facts)
	if err != nil {
		return out, err
	}
	trial := Start{Spec: spec, Attempt: a, Under: t.Under, Accept: t.Accept, Environ: environ(a)}
	errno, err := startTrial(s, self, trial)
	if err != nil {
		return out, err
	}
	out.Errno = errno
	out.Tried, out.Allowed = judge(errno)
	if !out.Tried {
		out.Why = "the call ended in " + errno + ", which says nothing"
	}
	return out, nil
}

// reaches reports whether some request to a host and port is granted, by any scheme.
func reaches(v *ir.View, to ir.Endpoint) bool {
	for _, to.Scheme = range []string{"https", "http", ir.Stream, to.Scheme} {
		if v.Reach(to).Allowed() {
			return true
		}
	}
	return false
}

// programs is the table of programs with the tool's own in it, since the one that is
// started is the one that tries.
func (t *Trial) programs() *ir.CommandSet {
	if t.Tool.Commands == nil {
		return nil
	}
	out := &ir.CommandSet{Origin: t.Tool.Commands.Origin}
	for _, r := range ir.NewView(t.Tool, ir.Linux, t.Facts).Programs() {
		out.Rules = append(out.Rules, *r)
	}
	slices.SortFunc(out.Rules, func(a, b ir.CommandRule) int { return strings.Compare(a.Program, b.Program) })
	return out
}

// operation returns the tried operation, in the form in which the kernel judges it.
func (t *Trial) operation(s *stage, q resolve.Question) (ir.Operation, error) {
	r, err := resolve.New(s.here.Workspace, resolve.Through(hostview.Now))
	if err != nil {
		return nil, err
	}
	if _, ok := onPaths[q.Verb]; ok {
		operands := make([]string, len(q.Operands))
		for i, o := range q.Operands {
			operands[i], _ = s.path(o)
		}
		q.Operands = operands
	}
	return resolve.Asker{Resolver: r, Bindings: s.here, Kernel: true, Lookup: t.Lookup}.Operation(q)
}

// startTrial runs the trial in a process of its own.
func startTrial(s *stage, self string, req Start) (string, error) {
	data, err := json.Marshal(req)
	if err != nil {
		return "", err
	}
	file := s.dir + "/trial.json"
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return "", err
	}
	cmd := exec.Command(self, LoadCommand, file)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if errno, ok := strings.CutPrefix(out.String(), answer); ok && err == nil {
		return strings.TrimSpace(errno), nil
	}
	said := strings.TrimPrefix(strings.TrimSpace(errs.String()), "accessc: ")
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == start.CodeFailed {
		return "", &start.Error{Code: start.CodeFailed, Err: errors.New(strings.TrimPrefix(said, "not started: "))}
	}
	return "", fmt.Errorf("the trial gave no answer: %v: %s", err, said)
}

// answer starts the line that a trial prints.
const answer = "accessc trial: "

// Start is the input of a trial's start.
type Start struct {
	Spec    []byte
	Attempt Attempt
	Under   maximum.Stamp
	Accept  []string
	Environ []string
}

// marker is the value of a variable that the environment lacks.
const marker = "accessc-trial"

// environ is this process's own environment with the variable that is asked for.
func environ(a Attempt) []string {
	env := os.Environ()
	if a.Op == "env" {
		if _, ok := os.LookupEnv(a.A); !ok {
			env = append(env, a.A+"="+a.B)
		}
	}
	return env
}

// judge turns the error of a call into an answer.
func judge(errno string) (tried, allowed bool) {
	switch errno {
	case "", "ENOEXEC", "ENOTEMPTY", "ECONNREFUSED", "EINPROGRESS", "ENETUNREACH", "EHOSTUNREACH", "ETIMEDOUT", "EADDRINUSE", "EADDRNOTAVAIL":
		return true, true
	case "EACCES", "EPERM", "EXDEV":
		return true, false
	default:
		return false, false
	}
}
