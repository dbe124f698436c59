//go:build !linux

package start

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Observes is false where accessc becomes the tool and sees nothing of it.
const Observes = false

// Traced refuses: no supervisor sees here which calls the kernel refuses.
func Traced(*Spec, *ir.Tool, backends.Target) error {
	return failed("--trace is not supported on this system")
}

// Asking refuses: no supervisor makes calls here.
func Asking(*Spec, *ir.Tool, backends.Target) error {
	return failed("--ask is not supported on this system")
}
