package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
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
	within := func(least, most uint64) bool {
		for range 100 {
			if got := goal(); got >= least && got <= most {
				return true
			}
			time.Sleep(100 * time.Millisecond) // a cleanup runs after the collection
		}
		return false
	}
	if !within(spareHeap, math.MaxUint64) {
		t.Errorf("a small heap is collected at %d MB", goal()>>20)
	}
	const size = 128 << 20
	held := make([]byte, size)
	runtime.GC()
	if !within(size+spareHeap/2, size+spareHeap+spareHeap/4) {
		t.Errorf("a heap of %d MB is collected at %d MB", size>>20, goal()>>20)
	}
	runtime.KeepAlive(held)
}
