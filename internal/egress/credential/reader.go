package credential

import (
	"io"
	"slices"
	"sync"
	"time"
)

// hold is how long the end of the text that has come of an answer waits for more. As many bytes wait as the
// longest form of a value has, whatever they are: if only the beginning of a value waited, or were
// replaced, a host that echoes would tell the tool which of its guesses are right.
var hold = 200 * time.Millisecond

// holding begins to wait for hold. A test waits for something else.
var holding = func() (<-chan time.Time, func() bool) {
	t := time.NewTimer(hold)
	return t.C, t.Stop
}

// Reader puts stand-ins into an answer, also where reads divide a value. At the end ended is
// called.
func (m *Mask) Reader(body io.ReadCloser, ended func()) io.ReadCloser {
	r := &reader{body: body, mask: m, ended: ended, parts: make(chan part), closed: make(chan struct{})}
	go r.pump()
	return r
}

// A part is the result of one read of an answer.
type part struct {
	text []byte
	err  error
}

type reader struct {
	body   io.ReadCloser
	mask   *Mask
	ended  func()
	parts  chan part
	once   sync.Once
	closed chan struct{}

	buf   []byte // read, and not yet returned
	clean int    // of these, the bytes that hold no part of a value
	err   error
}

// pump reads the answer, so that waiting for more of it can end.
func (r *reader) pump() {
	for {
		text := make([]byte, 16<<10)
		n, err := r.body.Read(text)
		select {
		case r.parts <- part{text[:n], err}:
		case <-r.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// Close implements io.Closer.
func (r *reader) Close() error {
	r.once.Do(func() { close(r.closed) })
	return r.body.Close()
}

// Read implements io.Reader.
func (r *reader) Read(b []byte) (int, error) {
	for r.clean == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.wait()
	}
	n := copy(b, r.buf[:r.clean])
	r.buf = append(r.buf[:0], r.buf[n:]...)
	r.clean -= n
	return n, nil
}

// wait takes the next part, or lets text go that has waited long enough.
func (r *reader) wait() {
	var late <-chan time.Time
	if len(r.buf) > 0 {
		at, stop := holding()
		defer stop()
		late = at
	}
	select {
	case p := <-r.parts:
		r.buf, r.err = append(slices.Grow(r.buf, len(p.text)), p.text...), p.err
		clear(p.text)
		if p.err != nil {
			r.release(len(r.buf))
			r.ended()
			return
		}
		if first := len(r.buf) - len(r.mask.pairs[0].value) + 1; first > 0 {
			r.release(first)
		}
	case <-late:
		r.release(len(r.buf))
	case <-r.closed:
		r.err = io.ErrClosedPipe
	}
}

// release makes the first bytes ready, with stand-ins for the values that begin in them.
func (r *reader) release(n int) {
	r.mask.replace(r.buf, n)
	r.clean = n
}
