package sandbox

import ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

// ABI returns the Landlock ABI version of this kernel, 0 if it has none.
func ABI() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}
