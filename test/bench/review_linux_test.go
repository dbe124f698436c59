package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkReview compares two revisions of a thousand tools of fifty rules, in a rule of
// each of which something has changed, as a reviewer does, against git diff of the same
// revisions; and two of which a single tool has changed.
func BenchmarkReview(b *testing.B) {
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("needs git")
	}
	dir := b.TempDir()
	for _, k := range []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME"} {
		b.Setenv(k, dir)
	}
	accessc, ws := filepath.Join(dir, "accessc"), filepath.Join(dir, "ws")
	command(b, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", accessc, "../../cmd/accessc")
	if err := os.Mkdir(ws, 0o755); err != nil {
		b.Fatal(err)
	}
	git := func(args ...string) { command(b, "git", append([]string{"-C", ws}, args...)...) }
	git("init", "-q")
	git("config", "user.email", "nobody@example.com")
	git("config", "user.name", "nobody")
	text := configuration(1000, 50)
	all := strings.ReplaceAll(text, "src/dir12", "src/other12")
	for _, revision := range []string{text, all, strings.Replace(all, "src/dir13", "src/other13", 1)} {
		write(b, filepath.Join(ws, "accessc.toml"), revision)
		git("add", ".")
		git("commit", "-q", "-m", "change")
	}
	race(b,
		contender{"git", func(*testing.B) { git("diff", "HEAD~2", "HEAD~1") }},
		contender{"accessc", func(b *testing.B) { command(b, accessc, "explain", "-C", ws, "--diff", "HEAD~2", "HEAD~1") }},
		contender{"one", func(b *testing.B) { command(b, accessc, "explain", "-C", ws, "--diff", "HEAD~1", "HEAD") }},
	)
}
