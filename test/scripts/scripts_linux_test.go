package scripts_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/accessc/accessc/test/scripts"
)

func TestMain(m *testing.M) { scripts.Main(m, nil, nil) }

// TestScripts runs the scripts that start no tool.
func TestScripts(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("cmd/accessc runs them with its counters")
	}
	scripts.Run(t, "testdata")
}

// TestNoToolIsStarted: the scripts of this directory, which other kernels do not run, ask none for its enforcement.
func TestNoToolIsStarted(t *testing.T) {
	asks := regexp.MustCompile(`(?m)^([^#\-].*)?accessc( -C \S+)? (acp|doctor|exec|grants|home|learn|mcp|mount|run|serve|unmount)( |$)|--enforceable|--kernel|--system`)
	output := regexp.MustCompile(`(?m)^(\[\S+\] )*(! )?(stdout|stderr) .*$`) // what commands print, which may name others
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := bytes.Cut(data, []byte("\n-- "))
		if start := asks.Find(output.ReplaceAll(script, nil)); start != nil {
			t.Errorf("%s asks the kernel: %s", file, start)
		}
	}
}
