package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/start"
	"github.com/accessc/accessc/test/finding"
)

//go:embed programs.txt
var programTable string

// ordinary is a command that people run, and its expected result.
type ordinary struct {
	systems []string
	// expected is empty where the command runs, else the causes or the word of the table.
	expected []string
	line     string
}

// policyWord marks commands that ask for something that the policy refuses.
const policyWord = "policy"

// ordinaries reads the table of programs.
func ordinaries(text string) ([]ordinary, error) {
	var out []ordinary
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.SplitN(line, ": ", 3)
		if len(parts) != 3 || strings.TrimSpace(parts[2]) == "" {
			return nil, fmt.Errorf("programs.txt:%d: %q, expected SYSTEMS: EXPECTED: COMMAND", i+1, line)
		}
		o := ordinary{systems: strings.Split(parts[0], ","), line: parts[2]}
		for _, s := range o.systems {
			if !slices.Contains(systems, s) {
				return nil, fmt.Errorf("programs.txt:%d: %q is no system", i+1, s)
			}
		}
		if parts[1] != "runs" {
			o.expected = strings.Fields(parts[1])
		}
		out = append(out, o)
	}
	return out, nil
}

// acceptedOf are the gaps of the default policy on each system, which have to be accepted.
var acceptedOf = map[string][]string{"windows": {"fs.default", "fs.protected"}}

// shellOf is how a line is given to the shell of a system. On Windows it is a file in the workspace: cmd.exe does
// not read its arguments as programs do, so a quotation mark would reach it with a backslash in front.
func shellOf(system, ws, line string) ([]string, error) {
	if system == "windows" {
		return []string{"cmd.exe", "/d", "/c", batch}, write(filepath.Join(ws, batch), []byte("@"+line+"\r\n"), 0o644)
	}
	return []string{"/bin/sh", "-c", line}, nil
}

// batch is the name of a line for cmd.exe.
const batch = "line.cmd"

// installed reports whether the program of a line is there; exit is the shell's own.
func installed(line string) bool {
	word := strings.Fields(line)[0]
	_, err := exec.LookPath(word)
	return err == nil || word == "exit"
}

// programs starts the programs of the table that are for this system under the default policy.
func (r *runner) programs(dir string) ([]finding.Finding, error) {
	all, err := ordinaries(programTable)
	if err != nil {
		return nil, err
	}
	ws := filepath.Join(dir, "programs")
	if err := errors.Join(
		write(filepath.Join(ws, "a.c"), []byte("int main(void){return 0;}\n"), 0o644),
		write(filepath.Join(ws, "script.js"), []byte("require('fs').readFileSync(__filename)\n"), 0o644)); err != nil {
		return nil, err
	}
	if said, err := exec.Command("git", "-C", ws, "init", "-q").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git init: %w\n%s", err, said)
	}
	var out []finding.Finding
	for _, o := range all {
		if slices.Contains(o.systems, runtime.GOOS) {
			f := r.program(o, dir, ws)
			fmt.Fprintf(r.out, "%-8s %s\n", f.Result, f.Name)
			if f.Note != "" && f.Result != finding.Absent {
				fmt.Fprintf(r.out, "         %s\n", strings.ReplaceAll(f.Note, "\n", "\n         "))
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// program starts one.
func (r *runner) program(o ordinary, dir, ws string) finding.Finding {
	f := finding.Finding{Name: o.line}
	if !installed(o.line) {
		f.Result = finding.Absent
		return f
	}
	args := []string{"exec", "-C", ws}
	for _, gap := range acceptedOf[runtime.GOOS] {
		args = append(args, "--accept", gap)
	}
	shell, err := shellOf(runtime.GOOS, ws, o.line)
	if err != nil {
		f.Result, f.Note = finding.Failed, err.Error()
		return f
	}
	// A program that tries for ever, as some do with pipes, is a result as well.
	limit, cancel := context.WithTimeout(context.Background(), r.patience)
	defer cancel()
	cmd := exec.CommandContext(limit, r.accessc, append(append(args, "--command", "--"), shell...)...)
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	said, err := cmd.CombinedOutput()
	if limit.Err() != nil {
		err = fmt.Errorf("no end within %s", r.patience)
	}
	f.Result, f.Note = o.judge(err), fmt.Sprintf("%v\n%s", err, firstLines(string(said), 5))
	switch f.Result {
	case finding.OK:
		f.Note = ""
	case finding.Foreseen:
		f.Note = strings.Join(o.expected, " ") + ": " + f.Note
	case finding.Absent, finding.Differs, finding.Failed:
	}
	return f
}

// judge says how a command ended. A refusal is foreseen only of a program that ran and failed: where accessc did not
// start it, or it came to no end, the ledger has said nothing.
func (o ordinary) judge(err error) finding.Result {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return finding.OK
	case len(o.expected) > 0 && errors.As(err, &ended) && ended.ExitCode() > 0 && ended.ExitCode() != start.CodeFailed:
		return finding.Foreseen
	default:
		return finding.Differs
	}
}

func firstLines(s string, n int) string {
	lines := strings.SplitAfterN(strings.TrimSpace(s), "\n", n+1)
	return strings.TrimSpace(strings.Join(lines[:min(n, len(lines))], ""))
}
