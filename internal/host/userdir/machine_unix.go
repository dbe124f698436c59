//go:build unix

package userdir

import "path/filepath"

// machineFile is the path of a file of the administrator.
func machineFile(name string) string { return filepath.Join("/etc/accessc", name) }
