package bench_test

import (
	"syscall"
	"time"
)

// processor is the processor time of all processes that this one has waited for (getrusage(2)).
func processor() time.Duration {
	var use syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
