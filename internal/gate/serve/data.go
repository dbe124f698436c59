package serve

import (
	"encoding/base64"
	"errors"
	"os"
)

// input is a piece for the standard input, and the place for its error.
type input struct {
	data []byte
	end  bool
	done chan error
}

// carry moves the data of the streams that messages carry.
func (x *run) carry(c *conn) {
	if in := x.pipes[0]; in != nil {
		x.input = make(chan input, maxWaiting)
		c.work.Go(func() { x.feed(in) })
	}
	for i, name := range []string{"", "stdout", "stderr"} {
		if out := x.pipes[i]; i > 0 && out != nil {
			c.opens(x)
			c.work.Go(func() {
				defer c.closes(x)
				drain(out, c.queue, event{Event: "output", Run: x.id, Stream: name})
			})
		}
	}
}

// drain makes events of a tool's output until its end.
func drain(out *os.File, q *queue, e event) {
	defer out.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := out.Read(buf)
		if n > 0 {
			e.Data = base64.StdEncoding.EncodeToString(buf[:n])
			q.put(e)
		}
		if err != nil {
			e.Data, e.End = "", true
			q.put(e)
			return
		}
	}
}

var errInput = errors.New("the standard input has ended")

// feed writes pieces in the order in which they came, until the client is gone or can send no more.
func (x *run) feed(in *os.File) {
	defer in.Close()
	ended := false
	write := func(piece input) {
		err := errInput
		if !ended {
			err = x.put(in, piece.data)
		}
		if ended = ended || piece.end || err != nil; ended {
			_ = in.Close()
		}
		piece.done <- err
	}
	for {
		select {
		case <-x.gone:
			return
		case piece := <-x.input:
			write(piece)
		case <-x.quiet:
			for len(x.input) > 0 {
				write(<-x.input)
			}
			return
		}
	}
}

// put writes to the pipe of a tool, at most until the client is gone: a process that the tool has left can hold the other end
// and read nothing.
func (x *run) put(in *os.File, data []byte) error {
	written := make(chan struct{})
	defer close(written)
	go func() {
		select {
		case <-x.gone:
			_ = in.Close()
		case <-written:
		}
	}()
	_, err := in.Write(data)
	return err
}

// write has a piece written, and answers when the tool's pipe has it.
func (c *conn) write(x *run, text string, end bool) (func() (any, *Error), *Error) {
	data, err := base64.StdEncoding.DecodeString(text)
	switch {
	case err != nil:
		return nil, errorf(BadParams, "write: expected base64 in data")
	case x.input == nil:
		return nil, errorf(BadParams, "write: run %d was not started with the standard input %q", x.id, streamData)
	}
	piece := input{data, end, make(chan error, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.over {
		return nil, noRun(x.id)
	}
	x.input <- piece // there is room for all requests that may wait
	return func() (any, *Error) {
		select {
		case err := <-piece.done:
			if err != nil {
				return nil, errorf(NoRun, "write: the tool takes no more: %v", err)
			}
			return empty{}, nil
		case <-x.gone:
			return nil, errorf(Internal, "the server ends")
		}
	}, nil
}
