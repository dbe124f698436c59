//go:build !linux

package hostview

import "os"

// fileSystem names the file system of a place, if it is one of the kernel's own.
func fileSystem(string) string { return "" }

// kernels lists the places at, below and around some directories at which the kernel shows itself.
func kernels(_, _ []string) []Kernel { return nil }

// Listed returns an error where the host does not list its mounts.
func Listed() error { return nil }

// Names are the canonical names that mounts give a place.
func Names(path string) []string { return []string{path} }

// identify returns the identity of the directory at a path, zero if its next change may not show in it.
func (devices) identify(string) Identity { return Identity{} }

// identifyOpen is the same for an open directory.
func (devices) identifyOpen(*os.File) Identity { return Identity{} }

// openDirectory opens a directory to list it.
func openDirectory(path string) (*os.File, error) { return os.Open(path) }
