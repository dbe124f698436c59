//go:build unix

package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// noListener is the error of a connection to a port without a listener.
const noListener = syscall.ECONNREFUSED

// ofSystem are errors of a refusal on this system alone.
var ofSystem []error

// mapped maps a file for execution, as the loader maps libraries.
func mapped(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	return unix.Munmap(data)
}

// renamed renames as the system does: os.Rename replaces no directory.
func renamed(from, to string) error { return unix.Rename(from, to) }

// searchable asks whether a directory may be searched, or a file be executed.
func searchable(path string) error { return unix.Access(path, unix.X_OK) }

// reached tries to reach a process.
func reached(p *os.Process) error { return p.Signal(syscall.Signal(0)) }
