package relay

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/accessc/accessc/internal/process/reap"
)

// program is the child behind a relay.
type program struct {
	cmd *exec.Cmd
	in  *os.File
	out *os.File
	// ended is closed when the process has ended.
	ended chan struct{}
}

// launch starts a program with pipes. It dies with this process where the system allows that, and
// finds its input ended everywhere.
func launch(cmd *exec.Cmd) (*program, error) {
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		_ = stdin.Close()
		_ = in.Close()
		return nil, err
	}
	cmd.Stdin, cmd.Stdout = stdin, stdout
	tie(cmd)
	p := &program{cmd: cmd, in: in, out: out, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The tie is to the thread that starts the process (prctl(2), PR_SET_PDEATHSIG), so the
		// thread stays until the process has ended.
		runtime.LockOSThread()
		err := cmd.Start()
		_ = stdin.Close()
		_ = stdout.Close()
		started <- err
		if err == nil {
			reap.Await(cmd.Process.Pid)
			_ = cmd.Wait() // ProcessState has the status
		}
		close(p.ended)
	}()
	if err := <-started; err != nil {
		closeAll(in, out)
		return nil, err
	}
	return p, nil
}

func closeAll(files ...io.Closer) {
	for _, f := range files {
		_ = f.Close()
	}
}

// end ends the input of the program and waits for its end; after a while it asks the program to
// end, and then kills it.
func (p *program) end(patience time.Duration) {
	_ = p.in.Close() // which ends a write that waits for the program
	for _, step := range []func() error{func() error { return ask(p.cmd.Process) }, p.kill} {
		select {
		case <-p.ended:
			return
		case <-time.After(patience):
			_ = step() // it may have ended meanwhile
		}
	}
	<-p.ended
}

func (p *program) kill() error {
	go reap.Threads(p.cmd.Process.Pid, p.ended)
	return p.cmd.Process.Kill()
}
