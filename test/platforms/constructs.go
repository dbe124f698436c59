package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/test/finding"
)

// profiles are the golden profiles, from the root of the repository.
const profiles = "backends/seatbelt/testdata/*.sb"

// constructs has the system compile each construct of the golden profiles, and each of those as a
// whole, with a program that needs no right that a profile could lack.
func (w *work) constructs([]string) error {
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
	fmt.Fprintf(w.out, "%d profiles and constructs, %d of them %s\n", len(out), good, out[0].Result)
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

// compile starts true under a profile. Status 65 is a profile that is refused, an abort a
// compiler or a loader that gives up; the other statuses are true's, whose start a profile of
// one construct does not hinder. A whole one may: it is about compiling.
func (w *work) compile(name, profile string, values []string) finding.Finding {
	f := finding.Finding{Name: name, Result: finding.OK}
	if _, err := os.Stat(w.sandboxExec); err != nil {
		f.Result, f.Note = finding.Absent, "no "+w.sandboxExec
		return f
	}
	cmd := exec.Command(w.sandboxExec, append(slices.Clone(values), "-p", profile, "/usr/bin/true")...)
	if said, err := cmd.CombinedOutput(); err != nil {
		f.Result, f.Note = finding.Failed, fmt.Sprintf("%v: %.300s", err, said)
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
