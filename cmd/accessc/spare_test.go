package main

import (
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
	if got := goal(); got < spareHeap {
		t.Errorf("a small heap is collected at %d MB", got>>20)
	}
	const size = 128 << 20
	held := make([]byte, size)
	runtime.GC()
	for tries := 0; goal() > size+spareHeap+spareHeap/4; tries++ {
		if tries == 100 {
			t.Fatalf("a heap of %d MB may grow to %d MB", size>>20, goal()>>20)
		}
		time.Sleep(100 * time.Millisecond) // a cleanup runs after the collection
	}
	if got := goal(); got < size+spareHeap/2 {
		t.Errorf("a heap of %d MB is collected at %d MB", size>>20, got>>20)
	}
	runtime.KeepAlive(held)
}
