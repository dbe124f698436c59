package bench_test

import (
	"slices"
	"testing"
	"time"
)

// contender is one side of a comparison.
type contender struct {
	name string
	run  func(b *testing.B)
}

// race runs all sides in turn, once per iteration, and reports each median in
// microseconds and its ratio to that of the first.
func race(b *testing.B, sides ...contender) {
	b.Helper()
	times := make([][]time.Duration, len(sides))
	for _, s := range sides {
		s.run(b) // warm caches
	}
	for b.Loop() {
		for i, s := range sides {
			start := time.Now()
			s.run(b)
			times[i] = append(times[i], time.Since(start))
		}
	}
	base := median(times[0])
	for i, s := range sides {
		m := median(times[i])
		b.ReportMetric(float64(m)/float64(time.Microsecond), "us-"+s.name)
		if i > 0 {
			b.ReportMetric(float64(m)/float64(base), s.name+"/"+sides[0].name)
		}
	}
	b.ReportMetric(0, "ns/op") // the sum of all sides says nothing
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}
