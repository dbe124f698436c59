package relay

import (
	"os"

	"golang.org/x/sys/windows"
)

// openFlags are none: a named pipe is no file of a directory here.
const openFlags = 0

// names is how many names an open file has.
func names(f *os.File) (uint64, error) {
	var info windows.ByHandleFileInformation
	err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	return uint64(info.NumberOfLinks), err
}
