package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/internal/start"
	"github.com/accessc/accessc/sandbox"
)

// BenchmarkHost starts /bin/true from a host by package sandbox, alone and supervised, against os/exec.
func BenchmarkHost(b *testing.B) {
	if start.ABI() == 0 {
		b.Skip("needs Landlock")
	}
	dir := b.TempDir()
	b.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	b.Setenv("TMPDIR", dir)
	ws := filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		b.Fatal(err)
	}
	write(b, filepath.Join(ws, "accessc.toml"), `[tools.alone]
source = "local"
command = "/bin/true"
access.fs = [{ path = ".", read = true }]

[tools.supervised]
source = "local"
command = "/bin/true"
access.fs = [{ path = ".", read = true, write = true }, { path = ".env" }]
`)
	host, err := sandbox.Open(sandbox.Config{Dir: ws})
	if err != nil {
		b.Fatal(err)
	}
	defer host.Close()
	run := func(tool string) func(*testing.B) {
		return func(b *testing.B) {
			if err := host.Command(tool).Run(); err != nil {
				b.Fatal(err)
			}
		}
	}
	race(b,
		contender{"plain", func(b *testing.B) {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}},
		contender{"alone", run("alone")},
		contender{"supervised", run("supervised")},
	)
}
