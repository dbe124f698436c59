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
	asked := w.subpath(values)
	fmt.Fprintf(w.out, "%s: %s\n", asked.Name, asked.Note)
	out = append(out, asked)
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

// subpath asks whether (subpath P) covers a file P, about which published profiles disagree: its note is the answer.
// The compiler of profiles here writes (literal P) as well, so no answer is wrong.
func (w *work) subpath(values []string) finding.Finding {
	f := finding.Finding{Name: "subpath covers a plain file", Result: finding.OK}
	file, err := filepath.Abs(w.file(filepath.Join("places", "plain")))
	if err == nil {
		err = os.WriteFile(file, []byte("x"), 0o644)
	}
	if err == nil {
		file, err = filepath.EvalSymlinks(file)
	}
	reads := func(rule string) error {
		profile := fmt.Sprintf("(version 1)(allow default)\n%s\n", rule)
		return exec.Command(w.sandboxExec, append(slices.Clone(values), "-p", profile, "/bin/cat", file)...).Run()
	}
	if err = cmp.Or(err, reads("")); err != nil {
		f.Result, f.Note = finding.Failed, fmt.Sprintf("cat does not run: %v", err)
		return f
	}
	var ended *exec.ExitError
	switch err := reads(fmt.Sprintf("(deny file-read-data (subpath %s))", start.Quote(file))); {
	case err == nil:
		f.Note = "no"
	case errors.As(err, &ended) && ended.ExitCode() == 1:
		f.Note = "yes"
	default:
		f.Result, f.Note = finding.Failed, err.Error()
	}
	return f
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
