package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// fault is a patch with its header.
type fault struct {
	// name is that of the file, without its ending.
	name string
	// breaks is the sentence on what is broken.
	breaks string
	// packages are those whose tests run, the quickest first; tests is a regular expression of the
	// tests that run before the others of these packages.
	packages []string
	tests    string
	// by are the tests that found the fault when it was written.
	by    []string
	patch []byte
}

// read returns the patches of a directory by their names.
func read(dir string) ([]fault, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.patch"))
	if err != nil {
		return nil, err
	}
	var out []fault
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		f.name = strings.TrimSuffix(filepath.Base(name), ".patch")
		out = append(out, f)
	}
	return out, nil
}

// parse reads a patch: the sentence and the fields of its header, an empty line, and the
// difference as git prints it.
func parse(text string) (fault, error) {
	header, _, ok := strings.Cut(text, "\ndiff --git ")
	if !ok {
		return fault{}, errors.New("no difference in the form of git")
	}
	f := fault{patch: []byte(text[len(header)+1:])}
	for line := range strings.Lines(header) {
		line = strings.TrimSpace(line)
		key, value, field := strings.Cut(line, ": ")
		switch {
		case line == "":
		case field && key == "Packages":
			f.packages = strings.Fields(value)
		case field && key == "Run":
			f.tests = value
		case field && key == "Found by":
			f.by = strings.Fields(value)
		case f.breaks == "" && len(f.packages) == 0:
			f.breaks = line
		default:
			return fault{}, fmt.Errorf("the header has the line %q", line)
		}
	}
	switch {
	case !strings.HasSuffix(f.breaks, "."):
		return fault{}, errors.New("no sentence says what breaks")
	case len(f.packages) == 0:
		return fault{}, errors.New("no packages")
	}
	return f, nil
}
