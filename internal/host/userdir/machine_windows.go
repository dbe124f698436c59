package userdir

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// machineDirs is the directory of the administrator's files. The variable ProgramData is not asked, since the caller
// sets it.
func machineDirs() []string {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, 0)
	if err != nil {
		dir = `C:\ProgramData`
	}
	return []string{filepath.Join(dir, "accessc")}
}
