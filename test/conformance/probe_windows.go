package main

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// noListener is the error of a connection to a port without a listener.
const noListener = windows.WSAECONNREFUSED

// ofSystem are errors of a refusal on this system alone: of connections, of files that another process
// holds open, as the loader does with the paths of rules, and of symbolic links.
var ofSystem = []error{windows.WSAEACCES, windows.ERROR_SHARING_VIOLATION, windows.ERROR_PRIVILEGE_NOT_HELD}

// searchable asks whether a directory can be looked at: this system has no access(2).
func searchable(path string) error {
	_, err := os.Stat(path)
	return err
}

// These are asked on other systems alone.
func setIDByList(string) error       { return errors.ErrUnsupported }
func argumentsOf(int) error          { return errors.ErrUnsupported }
func mapped(string) error            { return errors.ErrUnsupported }
func exchanged(string, string) error { return errors.ErrUnsupported }

// renamed renames a file or a directory.
func renamed(from, to string) error { return os.Rename(from, to) }

// cloned copies a file.
func cloned(from, to string) error { return copied(from, to) }

// reached tries to open a process for its end.
func reached(p *os.Process) error {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(p.Pid))
	if err != nil {
		return err
	}
	return windows.CloseHandle(h)
}
