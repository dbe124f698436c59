package credential

import (
	"io"
	"slices"
	"sync"
	"time"
)

// holding begins to wait. A test waits for something else.
var holding = func(hold time.Duration) (<-chan time.Time, func() bool) {
	t := time.NewTimer(hold)
	return t.C, t.Stop
}

// An Answer is the body of an answer.
type Answer struct {
	Body io.ReadCloser
	// Size is how many bytes it has, -1 if nothing says so.
	Size int64
	// Hold is how long the end of what has come waits for more where nothing says that more comes. As many bytes
	// wait as the longest form of a value has, whatever they are: if only the beginning of a value waited, or were
	// replaced, a host that echoes would tell the tool which of its guesses are right.
	Hold time.Duration
	// Ended is called at the end.
	Ended func()
}

// Reader puts stand-ins into an answer, also where reads divide a value.
// See decision D116.
func (m *Mask) Reader(a Answer) io.ReadCloser {
	r := &reader{Answer: a, mask: m, parts: make(chan part), closed: make(chan struct{})}
	go r.pump()
	return r
}

// A part is the result of one read of an answer.
type part struct {
	text []byte
	err  error
}

type reader struct {
	Answer
	mask   *Mask
	parts  chan part
	once   sync.Once
	closed chan struct{}

	buf   []byte // read, and not yet returned
	clean int    // of these, the bytes that hold no part of a value
	err   error
	read  int64 // of the answer
	again int   // the length at which to look at it again
	trail trail
}

// pump reads the answer, so that waiting for more of it can end.
func (r *reader) pump() {
	for {
		text := make([]byte, 16<<10)
		n, err := r.Body.Read(text)
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
	return r.Body.Close()
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

// wait takes the next part, or lets text go that has waited long enough. While the answer says that more comes, no
// time is long enough: on a slow link the parts of a value are as far apart as the link likes.
func (r *reader) wait() {
	var late <-chan time.Time
	if len(r.buf) > 0 && r.read >= r.Size {
		at, stop := holding(r.Hold)
		defer stop()
		late = at
	}
	select {
	case p := <-r.parts:
		r.buf, r.err = append(slices.Grow(r.buf, len(p.text)), p.text...), p.err
		r.read += int64(len(p.text))
		clear(p.text)
		switch {
		case p.err == io.EOF:
			r.release(len(r.buf))
		case len(r.buf) >= r.again:
			if first := r.mask.settled(&r.trail, r.buf); first > 0 {
				r.release(first)
			}
			// What waits because of long runs is looked at again when it has grown by a part of itself.
			held := len(r.buf) - r.clean
			r.again = held + max(0, held-2*r.mask.longest)/8
		}
		if p.err != nil {
			r.buf = r.buf[:r.clean] // of an answer that breaks off, what waits may be half of a value
			r.Ended()
		}
	case <-late:
		r.release(len(r.buf))
	case <-r.closed:
		r.err = io.ErrClosedPipe
	}
}

// release makes the first bytes ready, with stand-ins for the values that begin in them.
func (r *reader) release(n int) {
	r.mask.replace(&r.trail, r.buf, n)
	r.clean = n
}
