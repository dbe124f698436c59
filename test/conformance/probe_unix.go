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

// searchable asks whether a directory may be searched, or a file be executed.
func searchable(path string) error { return unix.Access(path, unix.X_OK) }

// reached tries to reach a process.
func reached(p *os.Process) error { return p.Signal(syscall.Signal(0)) }
