package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/serve"
	"github.com/accessc/accessc/internal/start"
	"github.com/accessc/accessc/internal/supervisor/live"
	"github.com/accessc/accessc/internal/userdir"
)

// asking is a tool that may ask its client, started by accessc exec: its supervisor has a socket of its own for
// answers. See RATIONALE D239.
type asking struct {
	cmd *exec.Cmd
	// told ends when every refusal and question was reported.
	told sync.WaitGroup
	done chan struct{}

	// mu is held while a signal is sent, so that none reaches a process that got the number later.
	mu     sync.Mutex
	over   bool
	status serve.Status
}

// startAsking starts accessc exec in a process group of its own.
func (h *serveHost) startAsking(s *serve.Start) (serve.Process, error) {
	c, err := h.command(s)
	if err != nil {
		return nil, err
	}
	defer closeFiles(c.theirs)
	p := &asking{cmd: c.cmd, done: make(chan struct{})}
	if err := startOwned(c.cmd); err != nil {
		closeFiles(c.ours)
		return nil, err
	}
	closeFiles(s.Streams[:])
	p.told.Go(func() { writeAll(c.call, s.Call) })
	if c.report != nil {
		p.told.Go(func() { tell(c.report, s.Refused) })
	}
	p.told.Go(func() { p.ask(s.Asks) })
	go p.wait()
	return p, nil
}

// starting is a command that is about to start, and the ends of its pipes.
type starting struct {
	cmd          *exec.Cmd
	call, report *os.File
	theirs, ours []*os.File
}

// pass makes a pipe, and passes the end that the command reads or writes as the value of a flag.
func (c *starting) pass(flag string, reads bool) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	their, our := w, r
	if reads {
		their, our = r, w
	}
	c.theirs, c.ours = append(c.theirs, their), append(c.ours, our)
	c.cmd.Args = append(c.cmd.Args, flag, "/dev/fd/"+strconv.Itoa(2+len(c.theirs)))
	return our, nil
}

// command is the one that starts a tool as the client wants it.
func (h *serveHost) command(s *serve.Start) (*starting, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &starting{cmd: exec.Command(self, append([]string{"exec", "-C", h.root, "--no-prompt", "--no-summary"}, h.g.layers()...)...)}
	c.cmd.Dir, c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = s.Dir, s.Streams[0], s.Streams[1], s.Streams[2]
	if c.call, err = c.pass("--call", true); err == nil && s.Refused != nil {
		c.report, err = c.pass("--report", false)
	}
	if err != nil {
		closeFiles(slices.Concat(c.theirs, c.ours))
		return nil, err
	}
	c.cmd.ExtraFiles = c.theirs
	c.cmd.Args = append(c.cmd.Args, "--ask")
	if s.Session != "" {
		c.cmd.Args = append(c.cmd.Args, "--session="+s.Session)
	}
	for _, gap := range h.accept {
		c.cmd.Args = append(c.cmd.Args, "--accept="+gap)
	}
	words := append([]string{s.Tool}, s.Args...)
	if s.Command != nil {
		c.cmd.Args = append(c.cmd.Args, "--command", "--tool="+s.Tool)
		words = slices.Concat(s.Command, s.Args)
	}
	c.cmd.Args = append(append(c.cmd.Args, "--"), words...)
	return c, nil
}

// writeAll hands a call over.
func writeAll(to *os.File, call start.Call) {
	defer to.Close()
	if data, err := json.Marshal(call); err == nil {
		_, _ = to.Write(data) // a start that failed reads nothing
	}
}

// tell reports each line of a report.
func tell(report *os.File, refused func(any)) {
	defer report.Close()
	lines := bufio.NewReader(report)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		refused(json.RawMessage(line))
	}
}

// socket is the control socket of the run, empty while it has none.
func (p *asking) socket() string {
	dir, err := userdir.Live()
	if err != nil {
		return ""
	}
	all, _ := live.Runs(dir) // it may not be there yet
	for _, s := range all {
		if strings.HasPrefix(filepath.Base(s), strconv.Itoa(p.PID())+"-") {
			return s
		}
	}
	return ""
}

// ask reports each question of the run once.
func (p *asking) ask(asks func(any)) {
	const interval = 50 * time.Millisecond
	seen := 0
	for {
		select {
		case <-p.done:
			return
		case <-time.After(interval):
		}
		socket := p.socket()
		if socket == "" {
			continue
		}
		reply, err := live.Talk(socket, live.Request{Command: "list"})
		if err != nil {
			continue
		}
		for _, q := range reply.Pending {
			if q.ID > seen {
				seen = q.ID
				asks(q)
			}
		}
	}
}

// say sends a request about grants.
func (p *asking) say(req live.Request) error {
	socket := p.socket()
	if socket == "" {
		return errAsks
	}
	reply, err := live.Talk(socket, req)
	if err == nil && reply.Error != "" {
		err = errors.New(reply.Error)
	}
	return err
}

// Answer implements serve.Process.
func (p *asking) Answer(question int, answer string) error {
	return p.say(live.Request{Command: "answer", ID: question, Answer: live.Answer(answer)})
}

// Revoke implements serve.Process.
func (p *asking) Revoke(grant int) error { return p.say(live.Request{Command: "revoke", ID: grant}) }

// PID implements serve.Process.
func (p *asking) PID() int { return p.cmd.Process.Pid }

// Signal implements serve.Process.
func (p *asking) Signal(s syscall.Signal) error { return p.kill(p.PID(), s) }

// Kill implements serve.Process.
func (p *asking) Kill() { _ = p.kill(-p.PID(), syscall.SIGKILL) }

func (p *asking) kill(pid int, s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return os.ErrProcessDone
	}
	return unix.Kill(pid, s)
}

// wait waits for the process. It is reaped under the lock, when it has ended.
func (p *asking) wait() {
	waitEnded(p.PID())
	p.mu.Lock()
	err := p.cmd.Wait()
	p.over = true
	p.mu.Unlock()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		p.status.Code = start.CodeFailed
	} else if s := p.cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		p.status.Code, p.status.Signal = 128+int(s.Signal()), strings.TrimPrefix(unix.SignalName(s.Signal()), "SIG")
	} else {
		p.status.Code = s.ExitStatus()
	}
	close(p.done)
}

// Wait implements serve.Process.
func (p *asking) Wait() serve.Status {
	<-p.done
	p.told.Wait()
	return p.status
}

// thread starts tools on one thread, which lives as long as this process: the signal that a tool gets when this
// process ends is sent when the thread that has started it ends (PR_SET_PDEATHSIG, prctl(2)).
var thread = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// startOwned starts a process that dies with this one, in a process group of its own.
func startOwned(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	err := make(chan error)
	thread() <- func() { err <- cmd.Start() }
	return <-err
}

// waitEnded returns when a child has ended, and leaves its status.
func waitEnded(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}
