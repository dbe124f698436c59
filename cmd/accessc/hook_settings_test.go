package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTemporary: a program that go run made is known as one.
func TestTemporary(t *testing.T) {
	for path, want := range map[string]bool{
		"/tmp/x/go-build123/b001/exe/accessc": true, "/home/a/.cache/go-build/1/accessc": true, filepath.Join(os.TempDir(), "accessc"): true,
		"/usr/local/bin/accessc": false, "/home/a/go/bin/accessc": false,
	} {
		if got := temporary(filepath.FromSlash(path)); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}
