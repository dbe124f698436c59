//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoNameFillsALine: in no output of a command do the blanks of a name of the repository fill a line of the
// terminal, so that the rest of the name stands at the left edge like a message of accessc's own. Cause: questions
// alone escaped blanks, and later all but the source lines of findings.
func TestNoNameFillsALine(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, filepath.Join(dir, name))
	}
	const forged = "accessc: approved, nothing new is granted"
	name := "k" + strings.Repeat(" ", 70) + forged
	ws := filepath.Join(dir, "ws")
	policy := `
[tools.t]
source = "local"
command = ["no-such", "NAME"]
access.fs = [{ path = ".", read = true }, { path = "NAME", write = true },
  { path = "~/NAME", external = true, read = true }, { path = "~/gone NAME", external = true, read = true }]
access.tests = [{ deny = ["read '~/gone NAME'"] }]
access.env = [{ name = "A", read = true }]
`
	policy = strings.ReplaceAll(strings.ReplaceAll(policy, `["no-such", "NAME"]`, `"no-such 'NAME'"`), "NAME", name)
	for _, d := range []string{filepath.Join(ws, name), filepath.Join(dir, "HOME", name)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(ws, "accessc.toml"), []byte(policy), 0o644); err != nil {
		t.Fatal(err)
	}
	filled := regexp.MustCompile(` {3,}` + forged)
	for _, args := range [][]string{
		{"check"}, {"explain"}, {"explain", "--why", "--base"}, {"explain", "--who", "read " + name},
		{"explain", "--diff", "."}, {"can", "t", "read", name}, {"can", "t", "read", "~/" + name},
		{"test"}, {"parity"}, {"approvals"},
		{"approve"}, {"approve", "~/gone " + name}, {"exec", "t"}, {"approve", "--yes", "~/" + name},
		{"approve", "~/" + name},
		{"approvals"}, {"exec", "t"}, {"home", "path", "t"}, {"approvals", "--forget", "~/" + name}, {"denials", "t"},
		{"mount", "t:" + name + "=/usr/share:ro", "--dry-run"},
		{"allow", "t", "read " + name, "--dry-run"}, {"explain", name}, {"decide", "--", "ls '" + name + "'"},
	} {
		var out, errs bytes.Buffer
		code := run(append([]string{"-C", ws}, args...), strings.NewReader(""), &out, &errs)
		for _, b := range []*bytes.Buffer{&out, &errs} {
			shown := b.String()
			if i := filled.FindStringIndex(shown); i != nil {
				around := shown[max(0, i[0]-60):min(len(shown), i[1]+20)]
				t.Errorf("%.60q, status %d, fills a line: %s", args, code, around)
			}
		}
	}
}
