package start

import "os"

// OpenNull opens the null device in a mode of os.OpenFile, for a standard descriptor of a tool.
func OpenNull(mode int) (*os.File, error) { return openFile(os.DevNull, mode, 0) }
