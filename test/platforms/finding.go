package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// finding is one line of a step's results, in the form of test/conformance -json.
type finding struct {
	Name   string `json:"name"`
	Result string `json:"result"`
	Note   string `json:"note,omitempty"`
}

// The results. Others are differences: "differs", "failed".
const (
	ok       = "ok"
	foreseen = "foreseen"
	absent   = "absent"
	failed   = "failed"
)

// bad reports whether a result is not as it must be.
func (f finding) bad() bool { return f.Result != ok && f.Result != foreseen && f.Result != absent }

// resultSteps are the steps with findings, in the order of the summary.
var resultSteps = []string{"constructs", "programs", "cases", "tests", "denials"}

func (w *work) file(name string) string { return filepath.Join(w.dir, name) }

// keep writes the findings of a step.
func (w *work) keep(step string, all []finding) error {
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(w.file(step+".json"), append(data, '\n'), 0o644)
}

// kept reads the findings of a step; there are none where it was not taken.
func (w *work) kept(step string) ([]finding, error) {
	data, err := os.ReadFile(w.file(step + ".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []finding
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("%s.json: %w", step, err)
	}
	return all, nil
}

// run runs a program, shows its output, and returns that.
func (w *work) run(name string, args ...string) (string, error) {
	var said bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout = io.MultiWriter(w.out, &said)
	cmd.Stderr = cmd.Stdout
	err := cmd.Run()
	return said.String(), err
}

// differing is the error of a step with bad findings.
func differing(all []finding) error {
	n := 0
	for _, f := range all {
		if f.bad() {
			n++
		}
	}
	if n > 0 {
		return fmt.Errorf("%d of %d are not as they must be", n, len(all))
	}
	return nil
}
