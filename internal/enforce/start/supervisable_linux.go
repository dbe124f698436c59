package start

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/files/kernelfs"
)

// supervisable refuses a start that a supervisor would hold to something else than the policy: it finds the tool's
// processes in /proc, and gives each run memory of its own in place of /dev/shm.
// See decision D50.
func supervisable(s *landlock.Spec) error {
	if err := ownProc(); err != nil {
		return failed("%w", err)
	}
	roots := []string{s.Workspace, s.Home}
	if j := s.Supervision.Judged; j != nil {
		roots = append(roots, slices.Sorted(maps.Values(j.External))...)
	}
	for _, dir := range roots {
		if kernelfs.Below(dir, sharedMemory) {
			return failed("%s lies in %s, where a supervised tool has memory of its own run: let it be elsewhere", dir, sharedMemory)
		}
	}
	return nil
}

// ownProc returns an error if /proc does not list processes by the numbers that they have here.
func ownProc() error {
	name, err := os.Readlink("/proc/self")
	if err != nil {
		return fmt.Errorf("a supervised tool needs /proc: %w", err)
	}
	if name != strconv.Itoa(os.Getpid()) {
		return fmt.Errorf("/proc is of another process namespace: this process is %d here and %s there; mount it anew (unshare --mount-proc)",
			os.Getpid(), name)
	}
	return nil
}
