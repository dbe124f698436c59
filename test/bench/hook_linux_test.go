package bench_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkHook answers an event of Claude Code, which starts accessc for each call of a tool, against the smallest
// program of Go, which starts and exits, and /bin/true.
func BenchmarkHook(b *testing.B) {
	dir := b.TempDir()
	b.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	b.Setenv("CLAUDE_PROJECT_DIR", dir)
	programs := installed(b, "../../cmd/accessc", "./nothing")
	write(b, filepath.Join(dir, "accessc.toml"), `[tools.coder]
source = "local"
command = "true"
access.fs = [{ path = ".", read = true, write = true, execute = true }, { path = ".env" }]
`)
	event := `{"session_id":"s","cwd":"` + dir + `","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls -la"}}`
	race(b,
		contender{"nothing", func(b *testing.B) { command(b, programs[1]) }},
		contender{"true", func(b *testing.B) { command(b, "/bin/true") }},
		contender{"hook", func(b *testing.B) {
			cmd := exec.Command(programs[0], "hook", "claude-code", "--tool", "coder")
			cmd.Stdin = strings.NewReader(event)
			if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "updatedInput") {
				b.Fatalf("%v: %s", err, out)
			}
		}},
	)
}
