package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/artifact/evidence"
	"github.com/accessc/accessc/ir"

	"github.com/accessc/accessc/test/finding"
)

// machine reads the name of the machine.
func (w *work) machine() (machine, error) {
	var m machine
	data, err := os.ReadFile(w.file("machine.json"))
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return m, fmt.Errorf("take the step facts first: %w", err)
	}
	return m, nil
}

// summary writes a table of all results: counts, and each line that is not ok or has a note, as the answers that a
// case asks for without an expectation are.
func (w *work) summary([]string) error {
	m, err := w.machine()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## %s, build %s, %s\n\n| step | ok | foreseen by the ledger | not here | differ |\n|---|---|---|---|---|\n", cell(m.System), cell(m.Build), cell(m.Arch))
	var lines []string
	for _, step := range resultSteps {
		all, err := w.kept(step)
		if err != nil {
			return err
		}
		if all == nil {
			fmt.Fprintf(&b, "| %s | not taken | | | |\n", step)
			continue
		}
		var n [4]int
		for _, f := range all {
			switch {
			case f.Result == finding.OK:
				n[0]++
			case f.Result == finding.Foreseen:
				n[1]++
			case f.Result == finding.Absent:
				n[2]++
			default:
				n[3]++
			}
			if f.Note != "" || f.Bad() || f.Result == finding.Foreseen {
				lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s |\n", step, f.Result, cell(f.Name), cell(f.Note)))
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", step, n[0], n[1], n[2], n[3])
	}
	if len(lines) > 0 {
		fmt.Fprintf(&b, "\n| step | result | name | note |\n|---|---|---|---|\n%s", strings.Join(lines, ""))
	}
	file := os.Getenv("GITHUB_STEP_SUMMARY")
	if file == "" {
		_, err = fmt.Fprint(w.out, b.String())
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(b.String() + "\n")
	return errors.Join(err, f.Close())
}

// cell makes a text one of a table's: no markup, on one line, not too long.
func cell(s string) string {
	s = strings.NewReplacer("\n", " ", "\r", " ", "|", `\|`, "<", "&lt;", "`", "'").Replace(s)
	if r := []rune(s); len(r) > 400 {
		s = string(r[:400]) + "…"
	}
	return s
}

// evidence writes evidence.json: of Linux, where every test run shows the ledger, an empty one.
func (w *work) evidence([]string) error {
	m, err := w.machine()
	if err != nil {
		return err
	}
	r := evidence.Run{Platform: m.Platform, System: m.System, Build: m.Build, Arch: m.Arch, Commit: m.Commit, Passed: []string{}, Failed: []string{}}
	for step, prefix := range map[string]string{"cases": "conformance/", "tests": ""} {
		all, err := w.kept(step)
		if err != nil {
			return err
		}
		for _, f := range all {
			switch name := prefix + f.Name; {
			case step == "tests" && !strings.HasPrefix(name, onWindows), f.Result == finding.Absent:
			case f.Result == finding.OK:
				r.Passed = append(r.Passed, name)
			default:
				r.Failed = append(r.Failed, name)
			}
		}
	}
	slices.Sort(r.Passed)
	slices.Sort(r.Failed)
	d := &evidence.Document{Format: evidence.Format, Version: evidence.Version, Runs: []evidence.Run{}}
	if p, known := ir.ParsePlatform(m.Platform); known && p != ir.Linux {
		d.Runs = append(d.Runs, r)
	}
	data, err := written(d)
	if err != nil {
		return err
	}
	return os.WriteFile(w.file("evidence.json"), data, 0o644)
}

// written is the text of a document that can be read again.
func written(d *evidence.Document) ([]byte, error) {
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, err
	}
	if _, err := evidence.Parse(data); err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// merge joins documents, of which the later one counts for a machine that is in both, to
// evidence.json: those of the artifacts below the directory of results, or some others.
func (w *work) merge(files []string) error {
	if len(files) == 0 {
		var err error
		if files, err = filepath.Glob(w.file("*/evidence.json")); err != nil {
			return err
		}
	}
	out := &evidence.Document{Format: evidence.Format, Version: evidence.Version, Runs: []evidence.Run{}}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		d, err := evidence.Parse(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, r := range d.Runs {
			at, found := slices.BinarySearchFunc(out.Runs, r, evidence.Compare)
			if found {
				out.Runs[at] = r
				continue
			}
			out.Runs = slices.Insert(out.Runs, at, r)
		}
	}
	data, err := written(out)
	if err != nil {
		return err
	}
	return os.WriteFile(w.file("evidence.json"), data, 0o644)
}
