package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/accessc/accessc/internal/enforce/start"
)

// BenchmarkKept starts a configured tool from its kept compilation, against starting it from an
// artifact, which asks nothing of the host but whether it may be believed, and against compiling.
// The workspace is empty, or has 2,000 files in 200 directories, in which a start looks for
// sensitive ones.
func BenchmarkKept(b *testing.B) {
	if start.ABI() == 0 {
		b.Skip("needs Landlock")
	}
	dir := b.TempDir()
	b.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	b.Setenv("TMPDIR", dir)
	programs := installed(b, "../../cmd/accessc", "./smallest")
	accessc, smallest := programs[0], programs[1]
	for name, directories := range map[string]int{"empty": 0, "tree": 200} {
		b.Run(name, func(b *testing.B) {
			ws := filepath.Join(dir, name)
			for i := range directories {
				sub := filepath.Join(ws, fmt.Sprintf("d%d/d%d", i/20, i))
				if err := os.MkdirAll(sub, 0o755); err != nil {
					b.Fatal(err)
				}
				for j := range 10 {
					write(b, filepath.Join(sub, fmt.Sprint("f", j)), "")
				}
			}
			if err := os.MkdirAll(ws, 0o755); err != nil {
				b.Fatal(err)
			}
			write(b, filepath.Join(ws, "accessc.toml"), `[tools.t]
source = "local"
command = "/bin/true"
access.fs = [{ path = ".", read = true }]
`)
			// In the user's state, from where a build is believed without a hash.
			command(b, accessc, "build", "-C", ws, "--resolve")
			artifacts, err := filepath.Glob(filepath.Join(dir, "state/accessc/workspaces/"+name+"-*/access/t/landlock.json"))
			if err != nil || len(artifacts) != 1 {
				b.Fatal(artifacts, err)
			}
			b.Chdir(ws)
			plan := filepath.Join(dir, name+".plan")
			write(b, plan, planOf(b, artifacts[0], dir))
			time.Sleep(2100 * time.Millisecond) // the directories settle, as those of any older workspace have
			race(b,
				contender{"artifact", func(b *testing.B) { command(b, accessc, "exec", "--artifact", artifacts[0], "t") }},
				contender{"kept", func(b *testing.B) { command(b, accessc, "exec", "t") }},
				contender{"compiled", func(b *testing.B) { command(b, accessc, "exec", "--no-cache", "t") }},
				contender{"smallest", func(b *testing.B) { command(b, smallest, plan, "/bin/true") }},
			)
		})
	}
}
