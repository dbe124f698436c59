//go:build !linux

package reap

// Await waits for nothing: the caller's own wait is all there is.
func Await(int) {}

// Threads takes nothing.
func Threads(int, <-chan struct{}) {}
