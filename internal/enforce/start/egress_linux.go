package start

import (
	"encoding/json"
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/ir"
)

// egress is the proxy process of a run.
type egress struct {
	*proxied
	process *os.Process
	control int
}

// startEgress starts the egress proxy of a run, if the policy names hosts: a process of its
// own, so that one process parses the tool's requests and another judges its calls. It ends when its
// end of the control socket closes.
// See decision D121.
func startEgress(r *run) (*egress, error) {
	if !r.supervised || !r.spec.Supervision.Egress || r.spec.Supervision.Judged == nil {
		return nil, nil
	}
	p, err := newProxied(r.req, r.spec.Supervision.Judged.Policy, &r.launch, r.tmp, ir.Linux)
	if err != nil {
		return nil, err
	}
	setup, err := sealed(&p.setup)
	if err != nil {
		return nil, err
	}
	defer setup.Close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "control")
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		_ = unix.Close(pair[0])
		return nil, err
	}
	defer null.Close()
	process, err := os.StartProcess("/proc/self/exe", r.site.words(wire.Command), &os.ProcAttr{
		Dir: "/", Env: ofProxy(r.req.Environ), Files: []*os.File{null, null, os.Stderr, theirs, setup},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		_ = unix.Close(pair[0])
		return nil, err
	}
	return &egress{proxied: p, process: process, control: pair[0]}, nil
}

// sealed is a file in memory with a document.
func sealed(doc any) (*os.File, error) {
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("setup", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "setup")
	_, err = f.Write(data)
	clear(data)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// maxGreeting is how long the proxy may take to listen, in milliseconds.
const maxGreeting = 20_000

// greeted waits until the proxy listens.
func (e *egress) greeted() (*supervisor.Egress, error) {
	if e == nil {
		return nil, nil
	}
	fds := []unix.PollFd{{Fd: int32(e.control), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, maxGreeting)
	for err == unix.EINTR {
		n, err = unix.Poll(fds, maxGreeting)
	}
	if err != nil || n == 0 {
		return nil, errors.New("the egress proxy does not answer")
	}
	buf := make([]byte, wire.MaxSize)
	size, err := unix.Read(e.control, buf)
	if err != nil || size == 0 {
		return nil, errors.New("the egress proxy ended")
	}
	hello, err := wire.Parse(buf[:size])
	if err != nil || hello.Kind != wire.Hello {
		return nil, wire.ErrPacket
	}
	return &supervisor.Egress{Control: e.control, PID: e.process.Pid, V4: hello.Want, V6: hello.From}, nil
}

// end ends the proxy of a tool that was not started.
func (e *egress) end() {
	if e == nil {
		return
	}
	_ = unix.Close(e.control)
	_ = e.process.Kill()
	_, _ = e.process.Wait()
}
