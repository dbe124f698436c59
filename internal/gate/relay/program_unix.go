//go:build unix

package relay

import (
	"os"
	"syscall"
)

// ask has a process end.
func ask(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// status is the status of an ended process as shells have it.
func status(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
