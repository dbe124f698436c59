package start

import (
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/accessc/accessc/internal/enforce/supervisor"
)

// ABI returns the Landlock ABI version of this kernel, 0 if it has none.
func ABI() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// ThisHost describes this system. A supervisor completes a ruleset: without one there is
// nothing to supervise.
func ThisHost() Host {
	h := plainHost()
	h.Groups = delegated().controllers
	return h
}

// plainHost describes this system without its cgroups, which few starts need.
func plainHost() Host {
	abi := ABI()
	return Host{ABI: abi, Supervises: abi > 0 && supervisor.Supported() == nil}
}
