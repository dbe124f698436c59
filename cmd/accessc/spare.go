package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// spareHeap is the garbage that a command may leave until it is collected, in bytes: to look at the whole
// configuration each time that a few tools were compiled costs more than to compile them.
const spareHeap = 256 << 20

// leastHeap is the size from which the runtime collects at a percentage of 100 ("GOGC", https://go.dev/doc/gc-guide).
const leastHeap = 4 << 20

// spare lets the heap grow by spareHeap between two collections, or to twice the live one if that is more. A
// percentage holds for one size of the heap, so it is set anew after each collection: each removes the object without
// any reference, whose cleanup is the next call.
// See RATIONALE D198.
func spare() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(max(100, int(spareHeap*100/max(live[0].Value.Uint64(), leastHeap))))
	runtime.AddCleanup(new(*int), func(struct{}) { spare() }, struct{}{})
}
