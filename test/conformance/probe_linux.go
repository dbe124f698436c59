package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// setIDByList is asked on macOS alone.
func setIDByList(string) error { return errors.ErrUnsupported }

// argumentsOf reads the arguments and the environment of a process.
func argumentsOf(pid int) error {
	for _, name := range []string{"cmdline", "environ"} {
		if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name)); err != nil {
			return err
		}
	}
	return nil
}

// cloned copies a file: not every file system here clones.
func cloned(from, to string) error { return copied(from, to) }

// exchanged has two names change places.
func exchanged(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
