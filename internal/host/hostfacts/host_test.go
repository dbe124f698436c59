package hostfacts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/testbuild"
)

// TestFirstLine reads the interpreter of a script.
func TestFirstLine(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"#!/bin/sh\nx": "/bin/sh", "#! /usr/bin/env python3 -u\n": "/usr/bin/env", "#!/bin/sh": "/bin/sh", "#!\n": "", "": "", "#": "",
		"x#!/bin/sh\n": "", "\x7fELF": "", "#!/bin/sh\r\n": "/bin/sh\r",
	} {
		file := filepath.Join(dir, "script")
		if err := testbuild.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := new(Result).firstLine(file); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := new(Result).firstLine(filepath.Join(dir, "none")); got != "" {
		t.Errorf("a file that is not there: %q", got)
	}
}

// TestBaseIsOneTree: the file that /etc/os-release leads to lies in /usr. Cause: its rule, to
// read it, was an exception from that of /usr, to read and start, so that a ruleset granted
// /usr name by name: 300 rules more.
func TestBaseIsOneTree(t *testing.T) {
	if _, err := os.Lstat("/etc/os-release"); err != nil {
		t.Skip("this system has no /etc/os-release")
	}
	res, err := Compile(Options{Options: compiler.Options{Root: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	base := res.hostBase(ir.BaseSystem)
	for _, r := range base {
		if above := around(base, r.At); above != 0 && above != r.Caps && above.Contains(r.Caps) {
			t.Errorf("%s is an exception from the directory that it is in", r.At)
		}
	}
}

// TestUnadvised: a start leaves out what its messages never have, the warnings about tools' own programs, and has the
// same policy.
func TestUnadvised(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const policy = `[tools.t]
source = "local"
command = "sub/x"
access.fs = [{ path = ".", read = true }, { path = "sub" }]
`
	for name, text := range map[string]string{"accessc.toml": policy, "sub/x": "#!/bin/sh\n"} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := testbuild.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	warned := map[bool]int{}
	for _, unadvised := range []bool{false, true} {
		res, err := Compile(Options{
			Options: compiler.Options{Root: root, Platforms: []ir.Platform{Platform()}, Apart: true},
			Resolve: true, State: userdir.Dir(filepath.Join(t.TempDir(), "a", "b", "c")), Unadvised: unadvised,
		})
		if err != nil || res.Program == nil {
			t.Fatal(err)
		}
		for _, d := range res.Findings {
			if d.Code == diag.OwnProgram {
				warned[unadvised]++
			}
		}
	}
	if warned[false] != 1 || warned[true] != 0 {
		t.Errorf("warned %v", warned)
	}
}
