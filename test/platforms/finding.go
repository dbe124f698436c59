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
	"slices"

	"github.com/accessc/accessc/test/finding"
)

// resultSteps are the steps with findings, in the order of the summary.
var resultSteps = []string{"constructs", "programs", "cases", "tests", "denials"}

func (w *work) file(name string) string { return filepath.Join(w.dir, name) }

// keep writes the findings of a step.
func (w *work) keep(step string, all []finding.Finding) error {
	return finding.Write(w.file(step+".json"), all)
}

// kept reads the findings of a step; there are none where it was not taken.
func (w *work) kept(step string) ([]finding.Finding, error) {
	data, err := os.ReadFile(w.file(step + ".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []finding.Finding
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	for _, f := range all {
		if !slices.Contains(finding.Results(), f.Result) {
			err = errors.Join(err, fmt.Errorf("%q is no result", f.Result))
		}
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
func differing(all []finding.Finding) error {
	if n := finding.Bad(all); n > 0 {
		return fmt.Errorf("%d of %d are not as they must be", n, len(all))
	}
	return nil
}
