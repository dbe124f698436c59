package compiler

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFirstLine reads what a script is run by.
func TestFirstLine(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"#!/bin/sh\nx": "/bin/sh", "#! /usr/bin/env python3 -u\n": "/usr/bin/env", "#!/bin/sh": "/bin/sh", "#!\n": "", "": "", "#": "",
		"x#!/bin/sh\n": "", "\x7fELF": "", "#!/bin/sh\r\n": "/bin/sh",
	} {
		file := filepath.Join(dir, "script")
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := firstLine(file); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := firstLine(filepath.Join(dir, "none")); got != "" {
		t.Errorf("a file that is not there: %q", got)
	}
}
