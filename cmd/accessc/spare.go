package main

import (
	"runtime"
	"runtime/debug"
)

// spareHeap is the garbage that a command may leave until it is collected, in bytes: to look at the whole
// configuration each time that a few tools were compiled costs more than to compile them.
const spareHeap = 256 << 20

// leastHeap is the size from which the runtime collects at a percentage of 100 ("GOGC", https://go.dev/doc/gc-guide).
const leastHeap = 4 << 20

// known is a percentage at which the goal of the collector tells how much is live.
const known = 1000

// spare lets the heap grow by spareHeap between two collections, or to twice the live one if that is more. A
// percentage holds for one size of the heap, so it is set anew after each collection: each removes the object without
// any reference, whose cleanup is the next call.
// See decision D246.
func spare() {
	debug.SetGCPercent(known)
	// The goal is the live heap and that percentage of it. Package runtime/metrics has the size itself, but takes 0.1 ms
	// to set itself up, in every start of a tool as well.
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	live := m.NextGC * 100 / (100 + known)
	debug.SetGCPercent(max(100, int(spareHeap*100/max(live, leastHeap))))
	runtime.AddCleanup(new(*int), func(struct{}) { spare() }, struct{}{})
}
