package signers

import "os"

// secret refuses nothing: access lists decide who reads the file.
func secret(os.FileInfo) error { return nil }
