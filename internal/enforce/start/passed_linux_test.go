package start

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// TestPassedForWriting: a report goes to a descriptor that the caller has passed on for writing, and to no other one.
func TestPassedForWriting(t *testing.T) {
	for mode, want := range map[int]bool{unix.O_RDONLY: false, unix.O_WRONLY: true, unix.O_RDWR: true} {
		fd, err := unix.Open(os.DevNull, mode, 0) // it stays open at execve
		if err != nil {
			t.Fatal(err)
		}
		f, err := (&outputs{run: &run{}}).descriptor(fd)
		if (err == nil) != want {
			t.Errorf("opened with %d: %v", mode, err)
		}
		if f != nil {
			_ = f.Close()
		}
		_ = unix.Close(fd)
	}
}

// TestNoCoreFiles: where a program has fewer variables than the tool no process leaves a core file, which has them.
func TestNoCoreFiles(t *testing.T) {
	for _, needs := range [][]backends.Row{nil, {{Gap: string(ir.GapCommandsEnvs)}}} {
		spec := &landlock.Spec{}
		spec.Needs = needs
		c, err := newStarting(&run{settled: settled{spec: spec}, site: ownSite(), req: &Request{}}).child()
		if err != nil {
			t.Fatal(err)
		}
		none := false
		for _, l := range c.Limits {
			none = none || l.Resource == unix.RLIMIT_CORE && l.Value == unix.Rlimit{}
		}
		if none != (len(needs) > 0) {
			t.Errorf("with %v: %+v", needs, c.Limits)
		}
	}
}
