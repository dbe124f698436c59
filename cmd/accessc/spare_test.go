package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// TestSpareIsBounded: the garbage that may be left follows the size of the heap. A percentage that
// was set once let a heap that had grown since grow by the same multiple of itself.
func TestSpareIsBounded(t *testing.T) {
	old := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(old) })
	spare()
	goal := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	// Another test may have had a command set the percentage after each collection, in this process: while it looks how
	// much is live, the percentage is a small one.
	within := func(what string, least, most uint64) {
		t.Helper()
		await.Until(t, what, func() bool { // a cleanup runs after the collection
			got := goal()
			return got >= least && got <= most
		})
	}
	within("a small heap has its spare part", spareHeap, math.MaxUint64)
	const size = 128 << 20
	held := make([]byte, size)
	runtime.GC()
	within("a large heap has no more", size+spareHeap/2, size+spareHeap+spareHeap/4)
	runtime.KeepAlive(held)
}
