package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
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
	run := func(h *sandbox.Host, tool string) func(*testing.B) {
		return func(b *testing.B) {
			if err := h.Command(tool).Run(); err != nil {
				b.Fatal(err)
			}
		}
	}
	plain := func(b *testing.B) {
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	}
	race(b, contender{"plain", plain}, contender{"alone", run(host, "alone")}, contender{"supervised", run(host, "supervised")})

	// A busy machine slows waits for other processes most, so the processor time is told as well: that of
	// all processes, the helper included, which counts when it has ended.
	base := processorTime(b, plain)
	for _, tool := range []string{"alone", "supervised"} {
		other, err := sandbox.Open(sandbox.Config{Dir: ws})
		if err != nil {
			b.Fatal(err)
		}
		run(other, tool)(b)
		used := processorTime(b, run(other, tool), func() { _ = other.Close() })
		b.ReportMetric(float64(used)/float64(base), "cpu-"+tool+"/plain")
	}
	b.ReportMetric(float64(base.Microseconds()), "cpu-us-plain")
}

// processorTime is the processor time of a run, on average over 500, with the work that follows them.
func processorTime(b *testing.B, run func(*testing.B), behind ...func()) time.Duration {
	const runs = 500
	begun := processors()
	for range runs {
		run(b)
	}
	for _, f := range behind {
		f()
	}
	return (processors() - begun) / runs
}

// processors is the processor time of this process and of the children that have ended.
func processors() (out time.Duration) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var use unix.Rusage
		_ = unix.Getrusage(who, &use)
		out += time.Duration(use.Utime.Nano() + use.Stime.Nano())
	}
	return out
}
