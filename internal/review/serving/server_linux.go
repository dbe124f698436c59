package serving

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/gate/serve"
	"github.com/accessc/accessc/internal/text/usage"
)

// endings are the signals that end a server.
var endings = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// Stdio serves the client at standard input and output until it is gone, or this process is told to end.
func (h *Host) Stdio() {
	s := &serve.Server{Host: h}
	// A write to a client that is gone fails, and this process goes on to end its tools.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ)
	end, ended := told(), make(chan struct{})
	go func() {
		if !s.ServeSocket(os.Stdin, os.Stdout) {
			s.ServePipe(os.Stdin, os.Stdout)
		}
		close(ended)
	}()
	select {
	case <-ended:
	case <-end:
		s.Shutdown()
	}
}

// Ready is the line that tells the starter of a server how to reach it.
type Ready struct {
	Version int    `json:"format_version"`
	Socket  string `json:"socket"`
	Token   string `json:"token"`
	PID     int    `json:"pid"`
}

// Listen serves clients at a socket file, whose path and token it prints, until this process is told to end.
func (h *Host) Listen(socket string, out io.Writer) error {
	s := &serve.Server{Host: h}
	// The token is as good as the user's own command line.
	if info, err := os.Stdout.Stat(); err == nil && info.Mode().IsRegular() {
		return usage.Errorf("standard output is a file, where the token would stay; use a pipe")
	}
	dir, err := filepath.Abs(filepath.Dir(socket))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return usage.Error{Err: err}
	}
	at := filepath.Join(dir, filepath.Base(socket))
	if why := start.Exposed(at, h.root); why != "" {
		return usage.Errorf("--socket %s %s, where a tool could put another socket in its place; use a directory "+
			"such as $XDG_RUNTIME_DIR",
			at, why)
	}
	token := rand.Text()
	l, err := serve.Listen(at, token)
	if err != nil {
		return usage.Error{Err: err}
	}
	h.socket = l.Path
	end := told()
	line, err := json.Marshal(Ready{serve.Version, l.Path, token, os.Getpid()})
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", line)
	}
	if f, ok := out.(interface{ Flush() error }); ok && err == nil {
		err = f.Flush()
	}
	if err != nil {
		l.Close()
		return err
	}
	go l.Serve(s)
	<-end
	s.Shutdown()
	l.Close()
	return nil
}

// told gets the signals that end a server.
func told() <-chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, endings...)
	return c
}
