//go:build unix

package main

import "golang.org/x/sys/unix"

// searchable asks whether a directory may be searched, or a file be executed.
func searchable(path string) error { return unix.Access(path, unix.X_OK) }
