package start

import "os"

func openFile(path string, flags int, mode uint32) (*os.File, error) {
	return os.OpenFile(path, flags, os.FileMode(mode))
}
