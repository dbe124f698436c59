//go:build !linux

package bench_test

import "time"

const ofThis, ofChildren = 0, 1

// processor is not measured here.
func processor(int) time.Duration { return 0 }

// faults is not known here.
func faults() int64 { return 0 }
