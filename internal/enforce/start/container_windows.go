package start

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
)

// container is the AppContainer of one run.
type container struct {
	name string
	sid  *windows.SID
	// childless is true where the tool may start nothing.
	childless bool
}

// newContainer makes the profile of a run's AppContainer. Its identifier follows from its name.
// If the system gives it another one, as to a caller that is packaged itself, nothing is
// started.
func newContainer(c winjob.AppContainer, run string) (*container, error) {
	name, err := winjob.RunName(c.Security.AppContainerName, run)
	if err != nil {
		return nil, err
	}
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	if err := createAppContainerProfile.Find(); err != nil {
		return nil, err
	}
	var sid *windows.SID
	r, _, _ := createAppContainerProfile.Call(
		uintptr(unsafe.Pointer(wide)), uintptr(unsafe.Pointer(wide)), uintptr(unsafe.Pointer(wide)), 0, 0, uintptr(unsafe.Pointer(&sid)))
	runtime.KeepAlive(wide)
	if r != 0 || sid == nil {
		return nil, fmt.Errorf("CreateAppContainerProfile: HRESULT %#x (%w)", uint32(r), syscall.Errno(uint16(r)))
	}
	defer windows.FreeSid(sid)
	out := &container{name: name, childless: !c.MayStart()}
	if out.sid, err = windows.StringToSid(winjob.PackageSID(name)); err != nil || !out.sid.Equals(sid) {
		_ = deleteProfile(name)
		return nil, fmt.Errorf("the AppContainer %s has the identifier %s, expected %s", name, sid, winjob.PackageSID(name))
	}
	return out, nil
}

// deleteProfile removes the profile of a run. A missing profile is not an error.
func deleteProfile(name string) error {
	if err := deleteAppContainerProfile.Find(); err != nil {
		return nil
	}
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	if r, _, _ := deleteAppContainerProfile.Call(uintptr(unsafe.Pointer(wide))); r != 0 {
		return fmt.Errorf("DeleteAppContainerProfile %s: HRESULT %#x", name, uint32(r))
	}
	return nil
}
