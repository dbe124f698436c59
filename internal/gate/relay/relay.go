package relay

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/accessc/accessc/internal/text/jsonrpc"
)

// MaxLine is the longest line that is passed on, in bytes.
const MaxLine = 16 << 20

// Decide judges a line, of which there is the outline alone where it is too long. The line is
// valid until Decide returns; its result may be that line. forward is passed on, back
// returned to the sender; either may be empty.
type Decide func(line []byte, long *jsonrpc.Outline) (forward, back []byte)

// Relay is the two sides and the judges of their lines.
type Relay struct {
	In         io.Reader
	Out        io.Writer
	FromClient Decide
	FromServer Decide
	// Patience is how long the program has to end after its input has ended, and once more after
	// it was asked to; zero means a few seconds.
	Patience time.Duration
}

// patience is that of a relay that names none.
const patience = 5 * time.Second

// Run starts the program and carries lines until both sides have ended. Signals are passed to
// the program, which ends the run. It returns the program's status; the error is that of a
// program that did not start.
func (r *Relay) Run(cmd *exec.Cmd, signals <-chan os.Signal) (int, error) {
	p, err := launch(cmd)
	if err != nil {
		return 0, err
	}
	client, server := &sink{to: r.Out}, &sink{to: p.in}
	heard, said := make(chan error, 1), make(chan error, 1)
	go func() { heard <- carry(r.In, r.FromClient, server, client) }()
	go func() { said <- carry(p.out, r.FromServer, client, server) }()
	wait := r.Patience
	if wait == 0 {
		wait = patience
	}
	var silent <-chan error = said
	select {
	case <-heard:
	case <-r.abandoned(server, still*wait, p.ended):
	case <-said:
		silent = nil
	case <-p.ended:
	case s := <-signals:
		_ = p.cmd.Process.Signal(s)
	}
	p.end(wait)
	if silent != nil {
		// The last lines of a program that has ended are still in the pipe, unless a process that
		// it left behind keeps it open.
		select {
		case <-silent:
		case <-time.After(wait):
		}
	}
	_ = p.out.Close()
	return status(cmd.ProcessState), nil
}

// still is how long a program may take no byte of a line once its client has gone, in terms of the patience with its end: it may be
// at work on an earlier line.
const still = 6

// abandoned is closed when the client has gone and the program takes none of its bytes. The end of the client's lines is
// not read then, since a line before it waits for the program.
// See decision D140.
func (r *Relay) abandoned(server *sink, after time.Duration, ended <-chan struct{}) <-chan struct{} {
	out := make(chan struct{})
	go func() {
		tick := time.NewTicker(after)
		defer tick.Stop()
		for last := int64(-1); ; {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			now := server.taken.Load()
			if server.busy.Load() && now == last && gone(r.In) {
				close(out)
				return
			}
			last = now
		}
	}()
	return out
}

// carry passes lines on until one side ends.
func carry(from io.Reader, decide Decide, to, origin *sink) error {
	in := jsonrpc.NewReader(from, MaxLine)
	for {
		line, long, err := in.Next()
		if err != nil {
			return err
		}
		forward, back := decide(line, long)
		if err := errors.Join(origin.write(back), to.write(forward)); err != nil {
			return err
		}
	}
}

// sink is a writer that two directions share: a write of one is not divided.
type sink struct {
	mu sync.Mutex
	to io.Writer
	// taken counts the bytes that were taken, busy is set while some wait.
	taken atomic.Int64
	busy  atomic.Bool
}

// piece is how much is written at a time, in bytes.
const piece = 64 << 10

func (s *sink) write(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy.Store(true)
	defer s.busy.Store(false)
	for len(text) > 0 {
		n, err := s.to.Write(text[:min(len(text), piece)])
		s.taken.Add(int64(n))
		if err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
