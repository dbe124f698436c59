package serve

import (
	"bytes"
	"errors"
	"io"
	"os"
)

const (
	// maxLine bounds a message of a client, in bytes with its end.
	maxLine = 1 << 20
	// maxFiles are the descriptors of one line.
	maxFiles = 3
	chunk    = 64 << 10
)

// source reads bytes, and the descriptors that came with them. Descriptors belong to the last of the bytes.
type source func(b []byte) (n int, files []*os.File, err error)

// lines reads messages and the descriptors that came with them.
type lines struct {
	read source
	// buf has the bytes that were read and not taken, base is the memory that they are in.
	buf, base []byte
	// seen is how much of buf has no end of a line.
	seen int
	// files came with the line in which the byte at their place stands; places count from the beginning of buf.
	files []placed
	// known is true when the client has said hello. The line of a stranger has no descriptors.
	known bool
	// skip is true within a line that is too long.
	skip bool
}

type placed struct {
	at    int
	files []*os.File
}

// message is a line of a client without its end.
type message struct {
	line  []byte
	files []*os.File
	// long is true where the line was longer than maxLine, of which it has the beginning.
	long bool
}

var errFiles = errors.New("more descriptors than a message can have, or than this process")

// next returns the next message. A last line without an end is none: the client was cut off in it.
func (l *lines) next() (message, error) {
	for {
		if m, ok := l.cut(); ok {
			return m, nil
		}
		at := len(l.buf)
		if cap(l.buf)-at < chunk {
			l.base = append(make([]byte, 0, 2*at+chunk), l.buf...)
			l.buf = l.base
		}
		l.buf = l.buf[:at+chunk]
		n, files, err := l.read(l.buf[at:])
		n = max(n, 0)
		l.buf = l.buf[:at+n]
		if len(files) > 0 {
			l.files = append(l.files, placed{max(at+n-1, 0), files})
		}
		switch {
		case n > 0 && l.crowded():
			err = errFiles
		case n > 0:
			continue
		case err == nil:
			err = io.ErrNoProgress
		}
		l.drop()
		return message{}, err
	}
}

// crowded reports whether the line of the last byte that was read has more descriptors than a line may have. They
// are open in this process, so the end of the line is not waited for.
func (l *lines) crowded() bool {
	begin := bytes.LastIndexByte(l.buf[:len(l.buf)-1], '\n') + 1
	n := 0
	for _, p := range l.files {
		if p.at >= begin {
			n += len(p.files)
		}
	}
	return n > maxFiles || n > 0 && begin == 0 && !l.known
}

// cut takes a whole line from the buffer, or the beginning of one that is too long.
func (l *lines) cut() (message, bool) {
	i := bytes.IndexByte(l.buf[l.seen:], '\n')
	end := l.seen + i + 1
	if i < 0 {
		end = len(l.buf)
	}
	switch {
	case l.skip:
		// Nothing of it counts, its descriptors included.
		closeAll(l.take(end).files)
		l.skip = i < 0
		if i < 0 {
			return message{}, false
		}
		return l.cut()
	case i < 0 && end < maxLine:
		l.seen = end
		return message{}, false
	case end > maxLine || i < 0:
		m := l.take(end)
		closeAll(m.files)
		l.skip = i < 0
		return message{line: m.line[:maxLine/2], long: true}, true
	default:
		return l.take(end), true
	}
}

// take takes the bytes before end, with the descriptors that belong to them.
func (l *lines) take(end int) message {
	m := message{line: bytes.Clone(l.buf[:end])}
	if l.buf, l.seen = l.buf[end:], 0; len(l.buf) == 0 && cap(l.base) <= 2*chunk {
		l.buf = l.base[:0]
	}
	kept := l.files[:0]
	for _, p := range l.files {
		if p.at < end {
			m.files = append(m.files, p.files...)
			continue
		}
		kept = append(kept, placed{p.at - end, p.files})
	}
	l.files = kept
	return m
}

func (l *lines) drop() {
	for _, p := range l.files {
		closeAll(p.files)
	}
	l.files = nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
