package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// setID sets a file's set-user-ID bit.
func setID(path string) error { return os.Chmod(path, 0o755|os.ModeSetuid) }

// cloned copies a file: not every file system here clones.
func cloned(from, to string) error { return copied(from, to) }

// exchanged has two names change places.
func exchanged(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
