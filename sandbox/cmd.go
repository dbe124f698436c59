package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
)

// Cmd is a start in the form of os/exec.Cmd. It is used once, by one goroutine.
type Cmd struct {
	Request
	// Process is the tool once it has started, State how it has ended once Wait has returned.
	Process *Process
	State   *State

	host   *Host
	ctx    context.Context
	theirs []*os.File
	ours   []*os.File
}

// ExitError is the error of Wait, Run, Output and CombinedOutput for a tool that has ended with another
// status than 0.
type ExitError struct {
	*State
	// Stderr is the standard error of the tool under Output, where no other place was set for it.
	Stderr []byte
}

// Error implements error.
func (e *ExitError) Error() string { return e.String() }

// Command prepares a start of a tool with arguments added to its command.
func (h *Host) Command(tool string, args ...string) *Cmd {
	return h.CommandContext(context.Background(), tool, args...)
}

// CommandContext is Command with a context that kills the tool.
func (h *Host) CommandContext(ctx context.Context, tool string, args ...string) *Cmd {
	return &Cmd{Request: Request{Tool: tool, Args: args}, host: h, ctx: ctx}
}

var (
	errStarted    = errors.New("sandbox: already started")
	errNotStarted = errors.New("sandbox: not started")
	errSet        = errors.New("sandbox: the stream is set already")
)

// Start starts the tool.
func (c *Cmd) Start() error {
	if c.Process != nil {
		return errStarted
	}
	p, err := c.host.Start(c.ctx, c.Request)
	for _, f := range c.theirs {
		_ = f.Close()
	}
	if err != nil {
		c.closeOurs()
		return err
	}
	c.Process = p
	return nil
}

func (c *Cmd) closeOurs() {
	for _, f := range c.ours {
		_ = f.Close()
	}
}

// Wait waits until the tool has ended and its output has been copied, and closes the pipes. The error
// is an *ExitError for another status than 0.
func (c *Cmd) Wait() error {
	if c.Process == nil {
		return errNotStarted
	}
	state, err := c.Process.Wait()
	c.closeOurs()
	c.State = state
	if err == nil && !state.Success() {
		err = &ExitError{State: state}
	}
	return err
}

// Run starts the tool and waits.
func (c *Cmd) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// maxStderr is how much of the standard error an ExitError keeps, in bytes.
const maxStderr = 64 << 10

// Output runs the tool and returns its standard output.
func (c *Cmd) Output() ([]byte, error) {
	if c.Stdout != nil {
		return nil, errSet
	}
	var out bytes.Buffer
	var kept *tail
	c.Stdout = &out
	if c.Stderr == nil {
		kept = &tail{}
		c.Stderr = kept
	}
	err := c.Run()
	var exit *ExitError
	if kept != nil && errors.As(err, &exit) {
		exit.Stderr = kept.text
	}
	return out.Bytes(), err
}

// tail keeps the last bytes that are written.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if over := len(t.text) - maxStderr; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// CombinedOutput runs the tool and returns its standard output and error.
func (c *Cmd) CombinedOutput() ([]byte, error) {
	if c.Stdout != nil || c.Stderr != nil {
		return nil, errSet
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.Bytes(), err
}

// StdinPipe returns a pipe to the standard input of the tool. Wait closes it.
func (c *Cmd) StdinPipe() (io.WriteCloser, error) {
	if c.Stdin != nil {
		return nil, errSet
	}
	theirs, ours, err := c.pipe()
	if err != nil {
		return nil, err
	}
	c.theirs, c.ours, c.Stdin = append(c.theirs, theirs), append(c.ours, ours), theirs
	return ours, nil
}

// StdoutPipe returns a pipe from the standard output of the tool. Wait closes it, so read to its end
// before.
func (c *Cmd) StdoutPipe() (io.ReadCloser, error) { return c.outputPipe(&c.Stdout) }

// StderrPipe is StdoutPipe for the standard error.
func (c *Cmd) StderrPipe() (io.ReadCloser, error) { return c.outputPipe(&c.Stderr) }

func (c *Cmd) outputPipe(to *io.Writer) (io.ReadCloser, error) {
	if *to != nil {
		return nil, errSet
	}
	ours, theirs, err := c.pipe()
	if err != nil {
		return nil, err
	}
	c.theirs, c.ours, *to = append(c.theirs, theirs), append(c.ours, ours), theirs
	return ours, nil
}

func (c *Cmd) pipe() (*os.File, *os.File, error) {
	if c.Process != nil {
		return nil, nil, errStarted
	}
	return os.Pipe()
}
