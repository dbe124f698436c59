//go:build unix

package plugin_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/internal/artifact/plugin"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/testbuild"
)

// script is a backend of a few lines of sh.
func script(t *testing.T, text string) *plugin.Program {
	t.Helper()
	file := filepath.Join(t.TempDir(), plugin.Prefix+"x")
	if err := testbuild.WriteFile(file, []byte("#!/bin/sh\ncat >/dev/null\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := plugin.Find(file, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestNothingIsLeft: what a program leaves running in its group ends with it. Cause: only the program was killed.
func TestNothingIsLeft(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	p := script(t, "exec 3>"+pipe+"\nsleep 1000 >/dev/null 2>&1 &\nexit 3\n")
	if _, err := p.Compile(ir.NewTool("t")); err == nil {
		t.Error("a program that fails is believed")
	}
	if rest, err := io.ReadAll(held); err != nil || len(rest) > 0 { // ends when no process has the pipe
		t.Error(string(rest), err)
	}
}

// TestMistakesAreShort: a message about a reply does not have all of it. Cause: names and members of any length were
// in it.
func TestMistakesAreShort(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, reply := range []string{
		`{"format": "accessc/backend", "format_version": 1, "files": [{"name": "` + long + `", "text": ""}]}`,
		`{"format": "accessc/backend", "format_version": 1, "` + long + `": 1}`,
		`{"format": "` + long + `"}`,
	} {
		_, err := script(t, "cat <<'E'\n"+reply+"\nE\n").Compile(ir.NewTool("t"))
		if err == nil || len(err.Error()) > 4000 {
			t.Errorf("%.200v", err)
		}
	}
}
