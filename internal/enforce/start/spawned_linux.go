package start

import (
	"os"
	"sync"
	"syscall"

	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/process/reap"
)

// Spawned is a tool that nothing supervises.
type Spawned struct {
	plan *Plan
	run  *run
	*os.Process
	killed sync.Once
	// ended is closed when the status of the process was taken.
	ended chan struct{}
}

// Signal sends the tool a signal.
func (s *Spawned) Signal(sig os.Signal) error {
	err := s.Process.Signal(sig)
	if err == nil && sig == os.Kill {
		s.killed.Do(func() { go reap.Threads(s.Pid, s.ended) })
	}
	return err
}

// Wait waits until the tool has ended, and removes the remains of its run.
func (s *Spawned) Wait() (supervisor.End, error) {
	s.run.lay()
	reap.Await(s.Pid)
	state, err := s.Process.Wait()
	close(s.ended)
	s.run.over()
	s.plan.leave()
	if err != nil {
		return supervisor.End{}, err
	}
	var end supervisor.End
	end.Status, _ = state.Sys().(syscall.WaitStatus)
	if use, ok := state.SysUsage().(*syscall.Rusage); ok {
		end.Usage = *use
	}
	return end, nil
}
