package jsonrpc

import (
	"bufio"
	"errors"
	"io"
)

// keep is the largest buffer that is kept from one line to the next, in bytes.
const keep = 1 << 20

// Reader reads lines up to a length, and the outlines of longer ones.
type Reader struct {
	in    *bufio.Reader
	limit int
	line  []byte
}

// NewReader returns a reader of lines of at most limit bytes.
func NewReader(in io.Reader, limit int) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, 1<<16), limit: limit}
}

// Next returns the next line with its end, which the last line may lack. The line is valid until
// the next call. Of a line that is longer than the limit it returns the outline alone.
func (r *Reader) Next() ([]byte, *Outline, error) {
	if cap(r.line) > keep {
		r.line = nil
	}
	r.line = r.line[:0]
	var long *Outline
	for {
		part, err := r.in.ReadSlice('\n')
		if long == nil && len(r.line)+len(part) > r.limit {
			long = &Outline{}
			long.read(r.line)
			r.line = nil
		}
		if long != nil {
			long.read(part)
		} else {
			r.line = append(r.line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, errors.Is(err, io.EOF) && (len(r.line) > 0 || long != nil):
			return r.line, long, nil
		default:
			return nil, nil, err
		}
	}
}
