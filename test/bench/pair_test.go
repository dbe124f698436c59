package bench_test

import (
	"cmp"
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
// microseconds and its ratio to that of the first. The same is reported of the processor time, which
// other work on the machine changes less: of the processes that a side has started and waited for, or of this one
// where there are none. The page faults of such processes are reported besides, which no other work changes.
func race(b *testing.B, sides ...contender) {
	b.Helper()
	times, spent, own := make([][]time.Duration, len(sides)), make([][]time.Duration, len(sides)), make([][]time.Duration, len(sides))
	paged := make([][]int64, len(sides))
	for _, s := range sides {
		s.run(b) // warm caches
	}
	for b.Loop() {
		for i, s := range sides {
			start, others, self, pages := time.Now(), processor(ofChildren), processor(ofThis), faults()
			s.run(b)
			paged[i] = append(paged[i], faults()-pages)
			times[i] = append(times[i], time.Since(start))
			spent[i] = append(spent[i], processor(ofChildren)-others)
			own[i] = append(own[i], processor(ofThis)-self)
		}
	}
	report(b, "", sides, times)
	if median(spent[0]) == 0 {
		spent = own
	}
	if median(spent[0]) > 0 {
		report(b, "cpu-", sides, spent)
	}
	for i, s := range sides {
		if m := median(paged[i]); m > 0 {
			b.ReportMetric(float64(m), "faults-"+s.name)
		}
	}
	b.ReportMetric(0, "ns/op") // the sum of all sides says nothing
}

func report(b *testing.B, of string, sides []contender, times [][]time.Duration) {
	base := median(times[0])
	for i, s := range sides {
		m := median(times[i])
		if m == 0 {
			continue // the work of a process that this one does not wait for
		}
		b.ReportMetric(float64(m)/float64(time.Microsecond), of+"us-"+s.name)
		if i > 0 {
			b.ReportMetric(float64(m)/float64(base), of+s.name+"/"+sides[0].name)
		}
	}
}

func median[T cmp.Ordered](ds []T) T {
	slices.Sort(ds)
	return ds[len(ds)/2]
}
