package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
)

// TestStatus: 0 for a certificate that is accepted, 1 for a refused one, 2 where there is nothing to check.
func TestStatus(t *testing.T) {
	dir := t.TempDir()
	res, err := hostfacts.Compile(hostfacts.Options{
		Options: compiler.Options{Root: "../../examples/project"},
		State:   userdir.Dir(filepath.Join(t.TempDir(), "state")),
	})
	if err != nil || res.Program == nil {
		t.Fatal(err)
	}
	req := build.Request{Program: res.Program, Backends: registry.All, Form: backends.Portable, Certify: true}
	if _, findings, err := build.Write(req, dir); err != nil || findings.Failed() {
		t.Fatal(err, findings)
	}
	if got := run(dir); got != 0 {
		t.Errorf("a certified build: %d", got)
	}
	file := filepath.Join(dir, "edit", "landlock.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(text, []byte(`".env"`), []byte(`".enw"`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := run(dir); got != 1 {
		t.Errorf("another text: %d", got)
	}
	if got := run(filepath.Join(dir, "edit")); got != 2 {
		t.Errorf("no certificate: %d", got)
	}
}
