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

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/finding"
)

//go:embed programs.txt
var programTable string

// ordinary is a command that people run, and its expected result.
type ordinary struct {
	systems []string
	// expected has, for each of the policies, nothing where the command runs, else the causes or the word of the table.
	expected [][]string
	line     string
}

// policies are those under which each command is tried, by the names of their tools: nothing written, a workspace that
// can only be read, and an exception of one path.
var policies = []string{"default", "read-only", "exception"}

// policyLayer is a layer with a tool for each.
const policyLayer = `[tools.default]
source = "local"
command = "true"

[tools.read-only]
source = "local"
command = "true"
[tools.read-only.access]
fs = [{ path = ".", read = true }]

[tools.exception]
source = "local"
command = "true"
[tools.exception.access]
fs = [{ path = ".", read = true, write = true, execute = true }, { path = ".env" }]
`

// policyWord marks commands that may ask for something that the policy refuses, refusedWord those that do: they must fail.
const (
	policyWord  = "policy"
	refusedWord = "refused"
)

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
		words := strings.Split(parts[1], "|")
		if len(words) == 1 {
			words = slices.Repeat(words, len(policies))
		}
		if len(words) != len(policies) {
			return nil, fmt.Errorf("programs.txt:%d: %q, expected a word for all policies or one for each of %q", i+1, parts[1], policies)
		}
		for _, w := range words {
			expected := strings.Fields(w)
			if slices.Equal(expected, []string{"runs"}) {
				expected = nil
			} else if len(expected) == 0 {
				return nil, fmt.Errorf("programs.txt:%d: %q, expected runs, policy, refused or causes", i+1, parts[1])
			}
			o.expected = append(o.expected, expected)
		}
		out = append(out, o)
	}
	return out, nil
}

// acceptedOf are the gaps of the policies on each system, which have to be accepted.
var acceptedOf = map[string]map[string][]string{
	"windows": {"default": {"fs.default", "fs.protected"}, "read-only": {"fs.default", "fs.move"}, "exception": {"fs.default", "fs.move", "fs.protected"}},
}

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

// programs starts the programs of the table that are for this system under each of the policies, or those
// of them that are chosen.
func (r *runner) programs(dir string, chosen func(o ordinary, policy int) bool) ([]finding.Finding, error) {
	all, err := ordinaries(programTable)
	if err != nil {
		return nil, err
	}
	for _, policy := range policies {
		if err := furnish(filepath.Join(dir, "programs", policy)); err != nil {
			return nil, err
		}
	}
	var out []finding.Finding
	for _, o := range all {
		for i := range policies {
			if !slices.Contains(o.systems, runtime.GOOS) || !chosen(o, i) {
				continue
			}
			f := r.program(o, i, dir, filepath.Join(dir, "programs", policies[i]))
			fmt.Fprintf(r.out, "%-8s %s\n", f.Result, f.Name)
			if f.Note != "" && f.Result != finding.Absent {
				fmt.Fprintf(r.out, "         %s\n", strings.ReplaceAll(f.Note, "\n", "\n         "))
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// named chooses the programs of some names, all of them without a name.
func named(names []string) func(ordinary, int) bool {
	return func(o ordinary, _ int) bool {
		return len(names) == 0 || slices.Contains(names, strings.Fields(o.line)[0])
	}
}

// furnish makes a workspace for the programs.
func furnish(ws string) error {
	var all []error
	for name, text := range map[string]string{
		"accessc.toml": policyLayer, ".env": "x\n", "a.c": "int main(void){return 0;}\n", "script.js": "require('fs').readFileSync(__filename)\n",
		"Makefile": "all: ; @echo made\n", "main.go": "package main\n\nfunc main() {}\n", "go.mod": "module example.com/m\n",
		"Cargo.toml": "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/main.rs": "fn main() {}\n",
	} {
		all = append(all, write(filepath.Join(ws, name), []byte(text), 0o644))
	}
	if said, err := exec.Command("git", "-C", ws, "init", "-q").CombinedOutput(); err != nil {
		all = append(all, fmt.Errorf("git init: %w\n%s", err, said))
	}
	return errors.Join(all...)
}

// program starts one under the policy of a number.
func (r *runner) program(o ordinary, policy int, dir, ws string) finding.Finding {
	f := finding.Finding{Name: o.line + " (" + policies[policy] + ")"}
	if !installed(o.line) {
		f.Result = finding.Absent
		return f
	}
	args := []string{"exec", "-C", ws}
	for _, gap := range acceptedOf[runtime.GOOS][policies[policy]] {
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
	cmd := exec.CommandContext(limit, r.accessc, append(append(args, "--command", "--tool", policies[policy], "--"), shell...)...)
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	said, err := cmd.CombinedOutput()
	if limit.Err() != nil {
		err = fmt.Errorf("no end within %s", r.patience)
	}
	f.Result = judged(o.expected[policy], err)
	if err == nil {
		err = errors.New("it ran")
	}
	f.Note = fmt.Sprintf("%v\n%s", err, firstLines(string(said), 5))
	switch f.Result {
	case finding.OK:
		f.Note = ""
	case finding.Foreseen:
		f.Note = strings.Join(o.expected[policy], " ") + ": " + f.Note
	case finding.Absent, finding.Differs, finding.Failed:
	}
	return f
}

// judged says how a command ended. One that the policy refuses must not run. A refusal is foreseen only of a program that ran and failed: where accessc did not
// start it, or it came to no end, the ledger has said nothing.
func judged(expected []string, err error) finding.Result {
	var ended *exec.ExitError
	switch {
	case err == nil && slices.Contains(expected, refusedWord):
		return finding.Differs
	case err == nil:
		return finding.OK
	case len(expected) > 0 && errors.As(err, &ended) && ended.ExitCode() > 0 && ended.ExitCode() != start.CodeFailed:
		return finding.Foreseen
	default:
		return finding.Differs
	}
}

func firstLines(s string, n int) string {
	lines := strings.SplitAfterN(strings.TrimSpace(s), "\n", n+1)
	return strings.TrimSpace(strings.Join(lines[:min(n, len(lines))], ""))
}
