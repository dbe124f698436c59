package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/enforce/start"
)

const windowsConfig = `
[tools.fmt]
source = "local"
command = "cmd.exe /c exit 3"

[[tools.fmt.access.fs]]
path = "."
read = true
`

// TestCommandLine: accessc compiles, checks and answers on Windows, and starts nothing with a
// gap in enforcement that is not accepted.
func TestCommandLine(t *testing.T) {
	dir, err := os.MkdirTemp("", "accessc-cli-")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	ws := filepath.Join(dir, "ws")
	if err := os.MkdirAll(filepath.Join(ws, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ws, "accessc.toml"), []byte(windowsConfig), 0o644); err != nil {
		t.Fatal(err)
	}
	spec := filepath.Join(dir, "out", "fmt", start.Artifact)
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"check", "-C", ws}, exitOK, ""},
		{[]string{"check", "-C", ws, "--enforceable"}, exitUnenforced, ""},
		{[]string{"can", "-C", ws, "fmt", "read", "src/x"}, exitOK, "yes"},
		{[]string{"can", "-C", ws, "fmt", "create", "src/x"}, exitFindings, "no"},
		{[]string{"build", "-C", ws, "--out", filepath.Join(dir, "out"), "--resolve", "--target", "windows"}, exitOK, ""},
		{[]string{"exec", "-C", ws, "fmt"}, start.CodeFailed, "not started"},
		{[]string{"exec", "--artifact", spec, "fmt"}, start.CodeFailed, "not started"},
		{[]string{"exec", "-C", ws, "--command", "--", "cmd.exe", "/c", "exit 3"}, start.CodeFailed, "not started"},
		{[]string{"exec", "-C", ws, "nosuch"}, start.CodeFailed, "no tool"},
	} {
		var out, errs strings.Builder
		if code := run(tt.args, strings.NewReader(""), &out, &errs); code != tt.code || !strings.Contains(out.String()+errs.String(), tt.says) {
			t.Errorf("%q: status %d, want %d\n%s%s", tt.args, code, tt.code, out.String(), errs.String())
		}
	}
	data, err := os.ReadFile(spec)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := start.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "state"); !strings.HasPrefix(strings.ToLower(parsed.Home), strings.ToLower(want)) || parsed.Context == "" {
		t.Errorf("the home is %s, expected it in %s; the Context is %q", parsed.Home, want, parsed.Context)
	}
}
