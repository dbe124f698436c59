package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accessc/accessc/test/testbuild"

	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/finding"
	"github.com/accessc/accessc/test/irtest"
)

// TestMain makes the test the tool of a case where it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == probeWord {
		probe(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	var err error
	if buildDir, err = os.MkdirTemp("", "cases-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(buildDir)
	os.Exit(code)
}

func newRunner(t *testing.T, out *bytes.Buffer) *runner {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	accessc, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return &runner{accessc: accessc, self: self, patience: time.Until(await.Deadline(t)), out: out}
}

// buildDir is where this program builds accessc.
var buildDir string

// built builds accessc once for all tests.
var built = sync.OnceValues(func() (string, error) {
	accessc := filepath.Join(buildDir, "accessc")
	return accessc, testbuild.Program(accessc, "cmd/accessc")
})

// TestCases runs every case for real, on this kernel.
func TestCases(t *testing.T) {
	var out bytes.Buffer
	r := newRunner(t, &out)
	all, err := names()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	found, err := r.all(all, dir)
	if bad := finding.Bad(found); err != nil || bad != 0 {
		t.Errorf("%d of %d differ, %v\n%s", bad, len(all), err, &out)
	}
	t.Logf("\n%s", &out)
}

// TestPrograms: every program of the table that is installed here runs under each policy, or is refused something by it.
// The gate has each program under one of the policies in turn, and under one of which it expects something else, but
// for a build that compiles the whole runtime of Go.
func TestPrograms(t *testing.T) {
	var out bytes.Buffer
	r := newRunner(t, &out)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	line, least := 0, 60
	chosen := map[string][]int{}
	found, err := r.programs(dir, func(o ordinary, policy int) bool {
		if irtest.Full() {
			return true
		}
		if strings.HasPrefix(o.line, "go build ") {
			return false
		}
		if chosen[o.line] == nil {
			first := line % len(policies)
			other := slices.IndexFunc(o.expected, func(e []string) bool { return !slices.Equal(e, o.expected[first]) })
			chosen[o.line] = []int{first, other}
			line++
		}
		return slices.Contains(chosen[o.line], policy)
	})
	if !irtest.Full() {
		least = 40
	}
	if err != nil || finding.Bad(found) > 0 || len(found) < least {
		t.Errorf("%d programs, %v\n%s", len(found), err, &out)
	}
	t.Logf("\n%s", &out)
}

// TestStarted: a program of a case starts without the null device, which Windows refuses to AppContainers. Cause:
// each start there would have counted as refused.
func TestStarted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "streams")
	if err := started(exec.Command("/bin/sh", "-c", `readlink /proc/$$/fd/0 /proc/$$/fd/2 > "$0"; exit 3`, file)); err != nil {
		t.Fatal(err)
	}
	if said, err := os.ReadFile(file); err != nil || len(said) == 0 || strings.Contains(string(said), os.DevNull) {
		t.Errorf("the streams are %s, %v", said, err)
	}
}

// TestForeseen: a program of which a refusal is expected is foreseen where it ran and failed, with its words, and
// differs where accessc does not start it or it does not end. Cause: any failure was foreseen. One that the policy refuses
// differs where it runs. Cause: that counted as ok.
func TestForeseen(t *testing.T) {
	dir := t.TempDir()
	foreseen := ordinary{expected: [][]string{{"windows.null"}, {"refused"}, nil}, line: "true"}
	for name, c := range map[string]struct {
		script, note string
		want         finding.Result
	}{
		"fails":    {"echo said; exit 3", "windows.null: exit status 3\nsaid", finding.Foreseen},
		"runs":     {"exit 0", "", finding.OK},
		"gap":      {"echo no; exit 125", "exit status 125\nno", finding.Differs},
		"for ever": {"exec sleep 60", "no end within", finding.Differs},
		"killed":   {"kill -KILL $$", "signal: killed", finding.Differs},
	} {
		r := &runner{accessc: filepath.Join(dir, name), patience: time.Until(await.Deadline(t))}
		if name == "for ever" {
			r.patience = 100 * time.Millisecond
		}
		if err := write(r.accessc, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		f := r.program(foreseen, 0, dir, dir)
		if f.Result != c.want || !strings.HasPrefix(f.Note, c.note) || (f.Note == "") != (c.note == "") {
			t.Errorf("%s: got %+v", name, f)
		}
	}
	for script, want := range map[string]finding.Finding{"exit 0": {Result: finding.Differs, Note: "it ran"}, "exit 1": {Result: finding.Foreseen, Note: "refused: exit status 1"}} {
		r := &runner{accessc: filepath.Join(dir, script), patience: time.Until(await.Deadline(t))}
		if err := write(r.accessc, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if f := r.program(foreseen, 1, dir, dir); f.Result != want.Result || strings.TrimSpace(f.Note) != want.Note {
			t.Errorf("refused, and %s: got %+v", script, f)
		}
	}
	r := &runner{accessc: filepath.Join(dir, "none"), patience: time.Until(await.Deadline(t))}
	if f := r.program(foreseen, 0, dir, dir); f.Result != finding.Differs {
		t.Errorf("without accessc: got %+v", f)
	}
}

// TestWindowsLines: lines for cmd.exe reach it as they are. Cause: as an argument, their quotation marks had
// backslashes in front.
func TestWindowsLines(t *testing.T) {
	all, err := ordinaries(programTable)
	if err != nil {
		t.Fatal(err)
	}
	ws, quoted := t.TempDir(), 0
	for _, o := range all {
		if !slices.Contains(o.systems, "windows") {
			continue
		}
		words, err := shellOf("windows", ws, o.line)
		if err != nil || strings.ContainsAny(strings.Join(words, ""), `" `) {
			t.Fatalf("%s: got %q, %v", o.line, words, err)
		}
		if text, err := os.ReadFile(filepath.Join(ws, words[len(words)-1])); err != nil || string(text) != "@"+o.line+"\r\n" {
			t.Errorf("%s: got %q, %v", o.line, text, err)
		}
		if strings.Contains(o.line, `"`) {
			quoted++
		}
	}
	if quoted == 0 {
		t.Error("no line has a quotation mark")
	}
}

// TestCasesNotice turns every expectation into its opposite: each must then differ, or the
// runner would pass whatever a system does.
func TestCasesNotice(t *testing.T) {
	var out bytes.Buffer
	r := newRunner(t, &out)
	for _, name := range []string{"fs-read", "fs-move", "net-connect", "env-forward", "limits-limit", "process-signal"} {
		c, err := load(name, "linux")
		if err != nil {
			t.Fatal(err)
		}
		flipped := 0
		for i := range c.steps {
			switch s := &c.steps[i]; s.want {
			case allow:
				s.want, flipped = deny, flipped+1
			case deny:
				s.want, flipped = allow, flipped+1
			case report, host:
			}
		}
		res, err := r.run(c, t.TempDir())
		if err != nil || len(res.differs) != flipped || flipped == 0 {
			t.Errorf("%s: %d of %d differ, %v\n%q", name, len(res.differs), flipped, err, res.differs)
		}
	}
}

// TestReports: the answers without an expectation are in the note of a case. Cause: they were printed and lost.
func TestReports(t *testing.T) {
	var out bytes.Buffer
	found, err := newRunner(t, &out).all([]string{"commands-args"}, t.TempDir())
	if err != nil || len(found) != 1 || found[0].Result != finding.OK || !strings.Contains(found[0].Note, "run sh -x: ") || strings.Contains(found[0].Note, "\n") {
		t.Errorf("got %+v, %v\n%s", found, err, &out)
	}
}

// TestNotStarted: a tool that does not start, or stops answering, fails its case.
func TestNotStarted(t *testing.T) {
	var out bytes.Buffer
	r := newRunner(t, &out)
	for name, toml := range map[string]string{
		"a policy with a mistake": "[tools.probe]\nsource = \"local\"\ncommand = \"$PROBE cases-probe\"\n[tools.probe.access]\nfss = []\n",
		"no execute":              "[tools.probe]\nsource = \"local\"\ncommand = \"$PROBE cases-probe\"\n[tools.probe.access]\nfs = [{ path = \"bin\", read = true }, { path = \"$PROBE\" }]\n",
		"another tool":            "[tools.probe]\nsource = \"local\"\ncommand = \"true\"\n",
	} {
		c, err := parse("x", []byte("about\n-- accessc.toml --\n"+toml+"-- do --\nallow read x\n"), "linux")
		if err != nil {
			t.Fatal(err)
		}
		if res, err := r.run(c, t.TempDir()); err == nil {
			t.Errorf("%s: got %+v", name, res)
		}
	}
}
