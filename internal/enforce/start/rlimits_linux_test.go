package start

import (
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// TestLimitsAreHard: a limit of the policy is both limits of setrlimit(2), so that the tool cannot raise it again;
// a time is rounded up to the next second, and no further.
func TestLimitsAreHard(t *testing.T) {
	for _, tt := range []struct {
		kind        ir.LimitKind
		value, want uint64
		resource    int
	}{
		{ir.LimitOpenFiles, 17, 17, unix.RLIMIT_NOFILE}, {ir.LimitFileSize, 4096, 4096, unix.RLIMIT_FSIZE},
		{ir.LimitCPUTime, 1, 1, unix.RLIMIT_CPU}, {ir.LimitCPUTime, 1000, 1, unix.RLIMIT_CPU}, {ir.LimitCPUTime,
			1001, 2, unix.RLIMIT_CPU},
	} {
		got, err := rlimits([]backends.Limit{{Kind: tt.kind.String(), Value: tt.value}}, syscall.Rlimit{Cur: 1024,
			Max: 4096})
		if err != nil || len(got) != 2 {
			t.Fatal(got, err)
		}
		if last := got[1]; last.Resource != tt.resource || last.Value != (unix.Rlimit{Cur: tt.want, Max: tt.want}) {
			t.Errorf("%s of %d: %+v", tt.kind, tt.value, last)
		}
	}
}
