package userdir

import (
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tokenStatistics is the beginning of TOKEN_STATISTICS.
// https://learn.microsoft.com/windows/win32/api/winnt/ns-winnt-token_statistics
type tokenStatistics struct {
	TokenID, AuthenticationID windows.LUID
	_                         [40]byte
}

// Session names the session that this process belongs to, by the identifier of the
// logon, which is unique until the system starts again.
func Session() string {
	var st tokenStatistics
	var n uint32
	err := windows.GetTokenInformation(windows.GetCurrentProcessToken(), windows.TokenStatistics,
		(*byte)(unsafe.Pointer(&st)), uint32(unsafe.Sizeof(st)), &n)
	if err != nil {
		return ""
	}
	return strconv.FormatUint(uint64(uint32(st.AuthenticationID.HighPart))<<32|uint64(st.AuthenticationID.LowPart), 16)
}
