package relay

import "os"

// ask has a process end. Windows has no way to ask one without a console.
func ask(p *os.Process) error { return p.Kill() }

// status is the status of an ended process.
func status(s *os.ProcessState) int { return s.ExitCode() }
