//go:build !linux && !darwin

package sandbox

import (
	"runtime"

	"github.com/accessc/accessc/backends"
)

// Spec is what every system's specification has.
type Spec struct{ launch backends.Launch }

// Launch returns it.
func (s *Spec) Launch() backends.Launch { return s.launch }

// Artifact is empty: no file can be started here.
const Artifact = ""

// lastLevel is the only feature level.
const lastLevel = 0

// Parse refuses, as Start would.
func Parse([]byte) (*Spec, error) { return nil, Start(Request{}) }

// Unmet returns what of a specification's needs a host does not meet.
func Unmet(s *Spec, h Host) []backends.Need {
	return unmet(s.launch.Needs, h, func(backends.Need) bool { return false })
}

// Confines reports whether tools are started here at all.
func (Host) Confines() bool { return false }

// SweepCommand is the hidden command that removes the directory of a run.
const SweepCommand = "__sweep"

// Start refuses: this version starts tools on Linux and macOS.
func Start(Request) error {
	return failed("this version starts tools on Linux and macOS, not on %s; the artifacts for %s are compiled", runtime.GOOS, runtime.GOOS)
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
		Summary: "this version starts tools on Linux and macOS; policies can be compiled, explained and checked here, and the " +
			"artifacts for " + runtime.GOOS + " are written",
	}
}
