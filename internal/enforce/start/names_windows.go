package start

import (
	"errors"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
)

// nameSurrogate is the bit of a reparse tag whose object stands for another place: symbolic links and junctions, and
// not placeholders of files that lie elsewhere ([MS-FSCC] 2.1.2.1).
const nameSurrogate = 0x20000000

// childrenOf lists the names in a directory, none where it is not there.
func childrenOf(dir string) (out []winjob.Child, err error) {
	pattern, err := windows.UTF16PtrFromString(verbatim + dir + `\*`)
	if err != nil {
		return nil, err
	}
	var d windows.Win32finddata
	h, err := windows.FindFirstFile(pattern, &d)
	if errors.Is(err, windows.ERROR_FILE_NOT_FOUND) || errors.Is(err, windows.ERROR_PATH_NOT_FOUND) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer windows.FindClose(h)
	for ; err == nil; err = windows.FindNextFile(h, &d) {
		name := windows.UTF16ToString(d.FileName[:])
		if name == "." || name == ".." {
			continue
		}
		reparse := d.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0
		out = append(out, winjob.Child{
			Name: name, Dir: d.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0,
			Link: reparse && d.Reserved0&nameSurrogate != 0,
		})
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, err
	}
	return out, nil
}
