package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/test/finding"
)

// profiles are the golden profiles, from the root of the repository.
const profiles = "backends/seatbelt/testdata/*.sb"

// constructs has the system compile each construct of the golden profiles, and each of those as a
// whole.
func (w *work) constructs([]string) error {
	if _, err := os.Stat(w.sandboxExec); err != nil {
		return w.keep("constructs", []finding.Finding{{Name: "profiles and constructs", Result: finding.Absent, Note: "no " + w.sandboxExec}})
	}
	files, err := filepath.Glob(profiles)
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no profiles in %s: %w", profiles, err)
	}
	values, err := w.values()
	if err != nil {
		return err
	}
	var out []finding.Finding
	seen := map[string]bool{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		out = append(out, w.compile(filepath.Base(name), string(text), values))
		for _, form := range forms(string(text)) {
			if !seen[form] && !strings.HasPrefix(form, "(version") {
				seen[form] = true
				out = append(out, w.compile(form, "(version 1)(allow default)\n"+form+"\n", values))
			}
		}
	}
	good := 0
	for _, f := range out {
		if f.Bad() {
			fmt.Fprintf(w.out, "%s  %s\n    %s\n", f.Result, f.Name, f.Note)
		} else {
			good++
		}
	}
	fmt.Fprintf(w.out, "%d profiles and constructs, %d of them compile\n", len(out), good)
	for _, f := range w.questions(values) {
		fmt.Fprintf(w.out, "%s: %s\n", f.Name, f.Note)
		out = append(out, f)
	}
	if err := w.keep("constructs", out); err != nil {
		return err
	}
	return differing(out)
}

// values are the parameters of portable profiles.
func (w *work) values() ([]string, error) {
	out := []string{"-D", "PROXY=4001"}
	for _, name := range []string{"WORKSPACE", "HOME", "TMP", "EXTERNAL_0"} {
		dir, err := filepath.Abs(w.file(filepath.Join("places", name)))
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, "-D", name+"="+dir)
	}
	return out, nil
}

// none is a program that there is not.
const none = "/nonexistent"

// compile starts a program that there is not under a profile, so that the profile is compiled and applied, and
// then the start fails whatever the profile says of it. Status 71 with the words execvp() is that failure; 71 alone
// is a profile that could not be applied, 65 one that is refused, and a signal a compiler that aborted (sandbox-exec of
// macOS, which ends with EX_OSERR and EX_DATAERR of sysexits(3)).
func (w *work) compile(name, profile string, values []string) finding.Finding {
	f := finding.Finding{Name: name, Result: finding.OK}
	cmd := exec.Command(w.sandboxExec, append(slices.Clone(values), "-p", profile, none)...)
	said, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	status := 0
	if errors.As(err, &ended) {
		status = ended.ExitCode()
	}
	if status == 71 && bytes.Contains(said, []byte("execvp()")) {
		return f
	}
	why := map[int]string{65: "the profile is refused", 71: "the profile is not applied", -1: "the compiler aborted"}[status]
	f.Result, f.Note = finding.Failed, fmt.Sprintf("%s (%v): %.300s", cmp.Or(why, "an unknown ending"), err, said)
	return f
}

// questions are those about which published profiles disagree, and the compiler of profiles here is right under either
// answer: the note of each is the answer.
func (w *work) questions(values []string) []finding.Finding {
	dir, err := filepath.Abs(w.file("places"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "plain"), []byte("x"), 0o644)
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	plain, fresh := filepath.Join(dir, "plain"), filepath.Join(dir, "fresh")
	if err == nil {
		err = os.RemoveAll(fresh)
	}
	out := []finding.Finding{
		{Name: "subpath covers a plain file"},                 // if so, half of the filters could go
		{Name: "opening a new file asks for file-write-data"}, // if not, create alone could be written for files
	}
	if err != nil {
		for i := range out {
			out[i].Result, out[i].Note = finding.Failed, err.Error()
		}
		return out
	}
	w.answer(&out[0], values, fmt.Sprintf("(deny file-read-data (subpath %s))", start.Quote(plain)), "/bin/cat", plain, plain)
	w.answer(&out[1], values, fmt.Sprintf("(deny file-write-data (literal %s))", start.Quote(fresh)), "/usr/bin/touch", fresh+"-other", fresh)
	return out
}

// answer asks whether a rule refuses a program its file. Without the rule the program must end with 0, for another file where
// it makes one.
func (w *work) answer(f *finding.Finding, values []string, rule, program, without, with string) {
	run := func(rule, file string) error {
		profile := fmt.Sprintf("(version 1)(allow default)\n%s\n", rule)
		return exec.Command(w.sandboxExec, append(slices.Clone(values), "-p", profile, program, file)...).Run()
	}
	if err := run("", without); err != nil {
		f.Result, f.Note = finding.Failed, fmt.Sprintf("%s does not run: %v", filepath.Base(program), err)
		return
	}
	var ended *exec.ExitError
	f.Result = finding.OK
	switch err := run(rule, with); {
	case err == nil:
		f.Note = "no"
	case errors.As(err, &ended) && ended.ExitCode() == 1:
		f.Note = "yes"
	default:
		f.Result, f.Note = finding.Failed, err.Error()
	}
}

// forms are the constructs of a profile at its outermost level, without the comments around them.
func forms(text string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ';':
			i += strings.IndexByte(text[i:]+"\n", '\n')
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '(':
			if depth == 0 {
				start = i
			}
			depth++
		case ')':
			if depth--; depth == 0 {
				out = append(out, text[start:i+1])
			}
		}
	}
	return out
}
