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
	plan     *Plan
	starting *starting
	*os.Process
	killed sync.Once
	// ended is closed when the status of the process was taken.
	ended chan struct{}
}

// Spawn starts a tool of a plan that needs no supervisor, and returns when it has become the program.
// The error is an *Error; then the tool has not run, and nothing is left behind.
func (p *Plan) Spawn(site *Site, req Request, files [3]int) (*Spawned, error) {
	p.enter()
	s, err := p.begin(site, &req, NewIdentity(), files)
	if err != nil {
		p.leave()
		return nil, err
	}
	c, err := s.childApart()
	if err == nil {
		var process *os.Process
		if process, err = p.spawn(c); err == nil {
			s.confinement.drop()
			return &Spawned{plan: p, starting: s, Process: process, ended: make(chan struct{})}, nil
		}
		err = s.program.childFailed(err)
	}
	s.abandon()
	p.leave()
	return nil, err
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
	s.starting.confinement.lay()
	reap.Await(s.Pid)
	state, err := s.Process.Wait()
	close(s.ended)
	s.starting.over()
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
