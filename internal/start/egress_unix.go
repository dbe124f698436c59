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
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/egress/wire"
)

// proxied are the variables that the egress proxy gets of its caller's: where the host's
// authorities are, how its resolver works, and which proxy leads out of its network.
var proxied = []string{
	"SSL_CERT_FILE", "SSL_CERT_DIR", "LOCALDOMAIN", "RES_OPTIONS", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "all_proxy", "no_proxy",
}

// ofProxy returns the variables of the caller's that the egress proxy gets.
func ofProxy(environ []string) []string {
	return slices.DeleteFunc(append([]string{}, environ...), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(proxied, name)
	})
}

// answersWithin is how long the proxy may take to listen.
const answersWithin = 20 * time.Second

// toClients are the variables by which clients find a proxy (curl(1), wget(1), and the manuals of
// git, Go, Python, gRPC). Node reads them where another one says so.
var toClients = []string{"all_proxy", "grpc_proxy", "http_proxy", "https_proxy", "ALL_PROXY", "GRPC_PROXY", "HTTP_PROXY", "HTTPS_PROXY"}

// variables are those of a tool whose clients use a proxy for every host.
func variables(g wire.Greeting) []string {
	out := []string{"NODE_USE_ENV_PROXY=1", "NO_PROXY=", "no_proxy="}
	for _, name := range toClients {
		out = append(out, name+"="+g.URL())
	}
	return out
}

// startByToken starts the proxy of a run in which no supervisor stays.
func startByToken(self string, policy []byte, environ []string) (egressEnd, error) {
	hold, control, err := socketPair()
	if err != nil {
		return egressEnd{}, err
	}
	err = spawn(self, policy, ofProxy(environ), control)
	_ = control.Close()
	var g wire.Greeting
	if err == nil {
		g, err = greeting(hold)
	}
	if err != nil {
		_ = hold.Close()
		return egressEnd{}, err
	}
	return egressEnd{g.Port, variables(g), hold}, nil
}

// spawn leaves a proxy behind. A shell that ends at once starts it, so that it is no child of the
// tool, whose wait(2) would see it.
func spawn(self string, policy []byte, environ []string, control *os.File) error {
	setup, err := json.Marshal(wire.Setup{Policy: policy})
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
	shell, err := os.StartProcess("/bin/sh", []string{"sh", "-c", `"$0" ` + wire.Command + ` &`, self}, &os.ProcAttr{
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
