package bench_test

import (
	"syscall"
	"time"
)

// The processes whose time is counted: this one, or all that it has waited for.
const (
	ofThis     = syscall.RUSAGE_SELF
	ofChildren = syscall.RUSAGE_CHILDREN
)

// processor is the processor time of processes (getrusage(2)).
func processor(who int) time.Duration {
	var use syscall.Rusage
	_ = syscall.Getrusage(who, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// faults is how often processes that this one has waited for were given a page of memory (getrusage(2)).
func faults() int64 {
	var use syscall.Rusage
	_ = syscall.Getrusage(ofChildren, &use)
	return use.Minflt
}
