package main

import (
	"io"

	"github.com/rogpeppe/go-internal/diff"
)

// writeDiff prints a unified diff of one file; nil stands for a file that is not
// there.
func writeDiff(w io.Writer, path string, old, new []byte) error {
	oldName, newName := path, path
	if old == nil {
		oldName = "/dev/null"
	}
	if new == nil {
		newName = "/dev/null"
	}
	_, err := w.Write(diff.Diff(oldName, old, newName, new))
	return err
}
