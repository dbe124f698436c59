//go:build unix

package start

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/egress/wire"
)

// Self are the words before the hidden commands of this program, by which a program that is not accessc
// knows that it is asked for one of them; none for accessc itself.
var Self []string

// answersWithin is how long the proxy may take to listen.
const answersWithin = 20 * time.Second

// startByToken starts the proxy of a run in which no supervisor stays.
func startByToken(self string, p *proxied, environ []string) (egressEnd, error) {
	hold, control, err := socketPair()
	if err != nil {
		return egressEnd{}, err
	}
	err = spawn(self, &p.setup, ofProxy(environ), control)
	_ = control.Close()
	var g wire.Greeting
	if err == nil {
		g, err = greeting(hold)
	}
	if err != nil {
		_ = hold.Close()
		return egressEnd{}, err
	}
	return egressEnd{g.Port, g.URL(), hold}, nil
}

// spawn leaves a proxy behind. A shell that ends at once starts it, so that it is no child of the
// tool, whose wait(2) would see it.
func spawn(self string, s *wire.Setup, environ []string, control *os.File) error {
	setup, err := json.Marshal(s)
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	words := slices.Concat([]string{"sh", "-c", `"$0" "$@" &`, self}, Self, []string{wire.Command})
	shell, err := os.StartProcess("/bin/sh", words, &os.ProcAttr{
		Dir: "/", Env: environ, Files: []*os.File{null, null, null, control, in}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err == nil {
		_, err = shell.Wait()
	}
	err = errors.Join(err, in.Close(), out.SetWriteDeadline(time.Now().Add(answersWithin)))
	if err == nil {
		_, err = out.Write(setup)
	}
	if err = errors.Join(err, out.Close()); errors.Is(err, unix.EPIPE) {
		return nil // its greeting says why it did not read
	}
	return err
}

// socketPair returns two connected sockets. The first one can be read with a deadline.
func socketPair() (*os.File, *os.File, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	unix.CloseOnExec(pair[0])
	unix.CloseOnExec(pair[1])
	err = unix.SetNonblock(pair[0], true)
	return os.NewFile(uintptr(pair[0]), "hold"), os.NewFile(uintptr(pair[1]), "control"), err
}

// greeting waits until the proxy listens.
func greeting(hold *os.File) (g wire.Greeting, err error) {
	if err := hold.SetReadDeadline(time.Now().Add(answersWithin)); err != nil {
		return g, err
	}
	line, err := bufio.NewReader(io.LimitReader(hold, wire.MaxSize)).ReadBytes('\n')
	if err != nil {
		return g, fmt.Errorf("it does not answer: %w", err)
	}
	if err := json.Unmarshal(line, &g); err != nil {
		return g, err
	}
	if g.Error != "" || g.Port == 0 || g.Token == "" {
		return g, fmt.Errorf("it does not serve: %s", g.Error)
	}
	return g, hold.SetReadDeadline(time.Time{})
}
