//go:build !linux

package sandbox

import "runtime"

// SweepCommand is the hidden command that removes the directory of a run.
const SweepCommand = "__sweep"

// Start refuses: this version starts tools on Linux.
func Start(Request) error {
	return failed("this version starts tools on Linux only, not on %s; the artifacts for %s are compiled", runtime.GOOS, runtime.GOOS)
}

// Sweep removes nothing, since no run leaves a directory here.
func Sweep(string, ...string) error { return nil }

// ABI returns the Landlock ABI version of this kernel: there is none.
func ABI() int { return 0 }

// ThisHost is what this system has: nothing that this version uses.
func ThisHost() Host { return Host{} }

// Examine says that tools are not started here.
func Examine() Report {
	return Report{
		System: runtime.GOOS + " on " + runtime.GOARCH,
		Summary: "this version starts tools on Linux only; policies can be compiled, explained and checked here, and the " +
			"artifacts for " + runtime.GOOS + " are written",
	}
}
