package relay

import (
	"os"

	"golang.org/x/sys/windows"
)

// names is how many names an open file has.
func names(f *os.File) (uint64, error) {
	var info windows.ByHandleFileInformation
	err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	return uint64(info.NumberOfLinks), err
}
