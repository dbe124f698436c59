//go:build !linux

package hostview

// fileSystem names the file system of a place, if it is one of the kernel's own.
func fileSystem(string) string { return "" }

// identify returns the identity of a directory, if its next change will show in that.
func identify(string) (Identity, bool) { return Identity{}, false }

// steady reports whether the times of a directory can be relied on.
func steady(string) bool { return false }
