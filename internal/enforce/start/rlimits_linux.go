package start

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/ir"
)

// rlimits are those that setrlimit(2) can enforce, and the limit on descriptors that this
// process was started with: the Go runtime has raised it for itself.
func rlimits(in []backends.Limit, files syscall.Rlimit) ([]supervisor.Limit, error) {
	out := []supervisor.Limit{{Resource: unix.RLIMIT_NOFILE, Value: unix.Rlimit(files)}}
	for _, l := range in {
		resource, value, err := rlimit(l)
		if err != nil {
			return nil, err
		}
		if resource < 0 {
			continue
		}
		var have unix.Rlimit // which can only be lowered
		if err := unix.Getrlimit(resource, &have); err != nil {
			return nil, err
		}
		value = min(value, have.Max)
		out = append(out, supervisor.Limit{Resource: resource, Value: unix.Rlimit{Cur: value, Max: value}})
	}
	return out, nil
}

// rlimit is the resource and value of a limit, times rounded up to seconds; -1 for one that is
// none of setrlimit(2)'s.
func rlimit(l backends.Limit) (resource int, value uint64, err error) {
	switch l.Kind {
	case ir.LimitMemory.String():
		return unix.RLIMIT_AS, l.Value, nil
	case ir.LimitProcesses.String():
		return unix.RLIMIT_NPROC, l.Value, nil
	case ir.LimitCPUTime.String():
		return unix.RLIMIT_CPU, (l.Value + 999) / 1000, nil
	case ir.LimitOpenFiles.String():
		return unix.RLIMIT_NOFILE, l.Value, nil
	case ir.LimitFileSize.String():
		return unix.RLIMIT_FSIZE, l.Value, nil
	case ir.LimitWallTime.String():
		// This one needs a process that waits: the supervisor, unless the requirement was
		// accepted.
		return -1, 0, nil
	default:
		return -1, 0, errors.New("unknown limit " + l.Kind)
	}
}
