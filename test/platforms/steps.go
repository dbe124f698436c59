package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/accessc/accessc/test/finding"
)

// programs and cases are test/conformance's.
func (w *work) programs(args []string) error {
	return w.conformance("programs", append([]string{"-programs"}, args...)...)
}

func (w *work) cases(args []string) error {
	return w.conformance("cases", append([]string{"-v"}, args...)...)
}

func (w *work) conformance(step string, args ...string) error {
	said, err := w.run("go", append([]string{"run", "./test/conformance", "-json", w.file(step + ".json")}, args...)...)
	return errors.Join(err, os.WriteFile(w.file(step+".txt"), []byte(said), 0o644))
}

// testPackages are those that say something about the system they run on.
var testPackages = []string{"./ir/...", "./backends/...", "./internal/...", "./compiler/..."}

// tests runs the tests of packages and keeps how each package ended, and each case of TestOnWindows.
func (w *work) tests(args []string) error {
	if len(args) == 0 {
		args = testPackages
	}
	log, err := os.Create(w.file("tests.txt"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, w.out
	ended := cmd.Run()
	all, err := testFindings(&said, func(text string) { fmt.Fprint(log, text) })
	if err != nil {
		return err
	}
	for _, f := range all {
		fmt.Fprintf(w.out, "%-8s %s\n", f.Result, f.Name)
	}
	return errors.Join(ended, w.keep("tests", all))
}

// testFindings reads the events of go test.
func testFindings(in *bytes.Buffer, say func(string)) ([]finding.Finding, error) {
	results := map[string]finding.Result{"pass": finding.OK, "fail": finding.Failed, "skip": finding.Absent, "build-fail": finding.Failed}
	var out []finding.Finding
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct{ Action, Package, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("go test: %w: %.200s", err, lines.Bytes())
		}
		if e.Output != "" {
			say(e.Output)
		}
		result, ended := results[e.Action]
		switch {
		case !ended:
		case e.Test == "":
			out = append(out, finding.Finding{Name: e.Package, Result: result})
		case strings.HasPrefix(e.Test, onWindows) && strings.Count(e.Test, "/") == 1:
			out = append(out, finding.Finding{Name: e.Test, Result: result})
		case e.Action == "fail":
			out = append(out, finding.Finding{Name: e.Package + "." + e.Test, Result: finding.Failed})
		}
	}
	return out, lines.Err()
}

// onWindows begins the names of the cases of the loader on Windows.
const onWindows = "TestOnWindows/"

// logs are the commands that ask each system for its latest refusals; Linux and Windows log
// no refusals of these kinds.
var logs = map[string][]string{
	"darwin": {"log", "show", "--last", "30m", "--style", "compact", "--predicate", `sender == "Sandbox"`},
}

// denials keeps the system's log, to look into a difference with.
func (w *work) denials([]string) error {
	words, has := logs[w.system]
	if !has {
		return w.keep("denials", []finding.Finding{{Name: "the system's log of denials", Result: finding.Absent, Note: "this system has none"}})
	}
	said, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	f := finding.Finding{Name: "the system's log of denials", Result: finding.OK, Note: fmt.Sprintf("%d lines", bytes.Count(said, []byte("\n")))}
	if err != nil {
		f.Result, f.Note = finding.Failed, err.Error()
	}
	return errors.Join(os.WriteFile(w.file("denials.txt"), said, 0o644), w.keep("denials", []finding.Finding{f}))
}
