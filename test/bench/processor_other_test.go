//go:build !linux

package bench_test

import "time"

// processor is not measured here.
func processor() time.Duration { return 0 }
