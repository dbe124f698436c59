package start

import "os"

func openCall(path string) (*os.File, error) { return os.Open(path) }
