package userdir

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// machineFile is the path of a file of the administrator. The variable ProgramData is not asked, since the
// caller sets it.
func machineFile(name string) string {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, 0)
	if err != nil {
		dir = `C:\ProgramData`
	}
	return filepath.Join(dir, "accessc", name)
}
