package signers

import "os"

func openFile(path string) (*os.File, error) { return os.Open(path) }

// alone refuses nothing: the access lists of the user's profile, and of the administrator's directory, decide
// who writes there.
func alone(*os.File, os.FileInfo, string, bool) error { return nil }

// secret refuses nothing: access lists decide who reads the file.
func secret(os.FileInfo) error { return nil }

// withoutWaiting is empty here: a file that is opened is not waited for.
const withoutWaiting = 0
