package bench_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start"
)

// BenchmarkExec starts /bin/true from a compiled artifact, against starting it by itself and
// through loaders in C and in Go that apply the same Landlock rules and leave out the rest of a
// start (private directories, a filter of system calls, a canary). accessc-exec starts it as well, and one more tool,
// which is judged.
func BenchmarkExec(b *testing.B) {
	if start.ABI() == 0 {
		b.Skip("needs Landlock")
	}
	dir := b.TempDir()
	b.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	b.Setenv("TMPDIR", dir)
	programs := installed(b, "../../cmd/accessc", "../../cmd/accessc-exec", "./smallest")
	accessc, loader, smallest := programs[0], programs[1], programs[2]

	ws := filepath.Join(dir, "ws")
	config := `[tools.t]
source = "local"
command = "/bin/true"
access.fs = [{ path = ".", read = true }]

[tools.supervised]
source = "local"
command = "/bin/true"
access.fs = [{ path = ".", read = true, write = true }, { path = ".env" }]

[tools.starts]
source = "local"
command = "/usr/bin/env"
access.fs = [{ path = ".", read = true, write = true, execute = true }, { path = ".env" }]
`
	if err := os.Mkdir(ws, 0o755); err != nil {
		b.Fatal(err)
	}
	write(b, filepath.Join(ws, "accessc.toml"), config)
	command(b, accessc, "build", "-C", ws, "--resolve", "--out", filepath.Join(dir, "out"))
	artifact := filepath.Join(dir, "out", "t", "landlock.json")
	plan := filepath.Join(dir, "plan")
	write(b, plan, planOf(b, artifact, dir))

	supervised := filepath.Join(dir, "out", "supervised", "landlock.json")
	starts := filepath.Join(dir, "out", "starts", "landlock.json")
	sides := []contender{
		{"smallest", func(b *testing.B) { command(b, smallest, plan, "/bin/true") }},
		{"plain", func(b *testing.B) { command(b, "/bin/true") }},
		{"accessc", func(b *testing.B) { command(b, accessc, "exec", "--artifact", artifact, "t") }},
		{"loader", func(b *testing.B) { command(b, loader, "--artifact", artifact, "t") }},
		{"loader-unsupervised", func(b *testing.B) { command(b, loader, "--artifact", artifact, "--accept", "fs.metadata", "t") }},
		{"loader-supervised", func(b *testing.B) { command(b, loader, "--artifact", supervised, "supervised") }},
		{"supervised", func(b *testing.B) { command(b, accessc, "exec", "--artifact", supervised, "supervised") }},
		{"env", func(b *testing.B) { command(b, "/usr/bin/env", "/bin/true") }},
		{"starts", func(b *testing.B) { command(b, accessc, "exec", "--artifact", starts, "starts", "--", "/bin/true") }},
	}
	if _, err := exec.LookPath("bwrap"); err == nil {
		sides = append(sides, contender{"bwrap", func(b *testing.B) {
			command(b, "bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "/bin/true")
		}})
	}
	if _, err := exec.LookPath("cc"); err == nil {
		loader := filepath.Join(dir, "loader")
		command(b, "cc", "-O2", "-o", loader, "testdata/loader.c")
		sides = append(sides, contender{"c", func(b *testing.B) { command(b, loader, plan, "/bin/true") }})
	}
	race(b, sides...)
}

// planOf writes down which rules a start from the artifact gives the kernel now.
func planOf(b *testing.B, artifact, tmp string) string {
	data, err := os.ReadFile(artifact)
	if err != nil {
		b.Fatal(err)
	}
	var spec landlock.Spec
	if err := json.Unmarshal(data, &spec); err != nil {
		b.Fatal(err)
	}
	handled := landlock.Handled(spec.Levels, start.ABI()).FS
	var out strings.Builder
	fmt.Fprintf(&out, "%x\n", handled)
	grant := func(path string, mask uint64) {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&os.ModeSymlink != 0 {
			return
		}
		if !info.IsDir() {
			mask &= landlock.FileMask
		}
		if mask &= handled; mask != 0 {
			fmt.Fprintf(&out, "%x %s\n", mask, path)
		}
	}
	for _, p := range spec.Paths {
		path := strings.ReplaceAll(p.Path, "${tmp}", tmp)
		if p.Entries == nil {
			grant(path, landlock.FSMask(p.Access))
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !slices.Contains(p.Entries.Except, e.Name()) {
				grant(filepath.Join(path, e.Name()), landlock.FSMask(p.Access))
			}
		}
	}
	return out.String()
}

func write(b *testing.B, path, text string) {
	b.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

func command(b *testing.B, name string, args ...string) {
	b.Helper()
	cmd := exec.Command(name, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s: %v: %s", strings.Join(cmd.Args, " "), err, &errs)
	}
}
