package start

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Functions that golang.org/x/sys/windows lacks. Values are those of winbase.h and winnt.h.
// See decision D103.
var (
	advapi32 = windows.NewLazySystemDLL("advapi32.dll")
	kernel32 = windows.NewLazySystemDLL("kernel32.dll")
	ntdll    = windows.NewLazySystemDLL("ntdll.dll")
	userenv  = windows.NewLazySystemDLL("userenv.dll")

	createRestrictedToken      = advapi32.NewProc("CreateRestrictedToken")
	isProcessInJob             = kernel32.NewProc("IsProcessInJob")
	getProcessMitigationPolicy = kernel32.NewProc("GetProcessMitigationPolicy")
	wineGetVersion             = ntdll.NewProc("wine_get_version")
	ntCreateLowBoxToken        = ntdll.NewProc("NtCreateLowBoxToken")
	createAppContainerProfile  = userenv.NewProc("CreateAppContainerProfile")
	deleteAppContainerProfile  = userenv.NewProc("DeleteAppContainerProfile")
)

// Attributes of a new process.
const (
	attributeSecurityCapabilities = 0x00020009
	attributeJobList              = 0x0002000d
	attributeChildProcessPolicy   = 0x0002000e
)

// Classes of information that are asked for.
const (
	tokenIsAppContainer  = 29
	tokenCapabilities    = 30
	tokenAppContainerSID = 31
	policyChildProcess   = 13
	seGroupIntegrity     = 0x20
	sidLowIntegrity      = "S-1-16-4096"
	jobMessageActiveZero = 4
	jobBasicAccounting   = 1
)

// securityCapabilities is SECURITY_CAPABILITIES.
type securityCapabilities struct {
	sid      *windows.SID
	list     *windows.SIDAndAttributes
	count    uint32
	reserved uint32
}

// associateCompletionPort is JOBOBJECT_ASSOCIATE_COMPLETION_PORT.
type associateCompletionPort struct {
	key  uintptr
	port windows.Handle
}

// basicAccounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type basicAccounting struct {
	TotalUserTime, TotalKernelTime, ThisPeriodUserTime, ThisPeriodKernelTime       int64
	TotalPageFaultCount, TotalProcesses, ActiveProcesses, TotalTerminatedProcesses uint32
}

// inJob reports whether a process belongs to a job.
func inJob(process, job windows.Handle) (bool, error) {
	var in int32
	if r, _, err := isProcessInJob.Call(uintptr(process), uintptr(job), uintptr(unsafe.Pointer(&in))); r == 0 {
		return false, fmt.Errorf("IsProcessInJob: %w", err)
	}
	return in != 0, nil
}

// childPolicy is PROCESS_MITIGATION_CHILD_PROCESS_POLICY of a process.
func childPolicy(process windows.Handle) (uint32, error) {
	var v uint32
	r, _, err := getProcessMitigationPolicy.Call(
		uintptr(process), policyChildProcess, uintptr(unsafe.Pointer(&v)), unsafe.Sizeof(v))
	if r == 0 {
		return 0, fmt.Errorf("GetProcessMitigationPolicy: %w", err)
	}
	return v, nil
}

// tokenInfo asks a token for information of variable length.
func tokenInfo(t windows.Token, class uint32) ([]byte, error) {
	var n uint32
	_ = windows.GetTokenInformation(t, class, nil, 0, &n)
	buf := make([]byte, max(n, 64))
	err := windows.GetTokenInformation(t, class, &buf[0], uint32(len(buf)), &n)
	return buf, err
}

// setJob and queryJob hand a structure to a job and ask for one.
func setJob[T any](job windows.Handle, class uint32, v *T) error {
	_, err := windows.SetInformationJobObject(job, class, uintptr(unsafe.Pointer(v)), uint32(unsafe.Sizeof(*v)))
	return err
}

func queryJob[T any](job windows.Handle, class int32, v *T) error {
	return windows.QueryInformationJobObject(job, class, uintptr(unsafe.Pointer(v)), uint32(unsafe.Sizeof(*v)), nil)
}

// onWine reports whether this is Wine, which accepts most parts of a sandbox and does not apply
// them (docs/platforms/windows.md).
func onWine() bool { return wineGetVersion.Find() == nil }
