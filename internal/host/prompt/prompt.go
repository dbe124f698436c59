// Package prompt asks the user at the controlling terminal.
//
// Questions go to the terminal itself, whatever standard input and output are: a pipeline
// neither answers them nor sees them. Where no answer is possible there is no terminal, and
// asking never waits: without a controlling terminal, and for a process in the background,
// which the system would stop as soon as it reads. Input typed before the question appears is
// discarded.
package prompt

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/accessc/accessc/internal/text/visible"
)

// ErrNone: there is no terminal to ask on.
var ErrNone = errors.New("there is no terminal to ask on")

// Terminal is an open controlling terminal.
type Terminal struct {
	in, out *os.File
}

// Open opens the controlling terminal of the process. The error is ErrNone when there
// is none or the process is in its background.
func Open() (*Terminal, error) { return open() }

// columns is how wide a terminal is taken to be. What it says of itself is no answer: a tool that has the terminal can
// set that.
const columns = 80

// Close closes the terminal.
func (t *Terminal) Close() error {
	if t.in == t.out {
		return t.in.Close()
	}
	return errors.Join(t.in.Close(), t.out.Close())
}

// Confirm writes a text and a question and reads the answer. Yes is "y" or "yes"; everything
// else, the end of the input included, is no. Invisible characters of the texts are made
// visible.
// See decision D18.
func (t *Terminal) Confirm(text, question string) (bool, error) {
	discard(t.in)
	if _, err := io.WriteString(t.out, visible.Question(text+question, columns)+" [y/N] "); err != nil {
		return false, err
	}
	answer, ended, err := line(t.in)
	if !ended {
		// Whatever is printed next starts a line of its own.
		_, _ = io.WriteString(t.out, "\n")
	}
	if err != nil {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	default:
		return false, nil
	}
}

// Bytes that end an answer without a line: the bytes of control-C, control-D and escape on a
// terminal that is set to pass them on.
const refusals = "\x03\x04\x1b"

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 256

// line reads to the end of a line, a byte at a time, so that the following input stays for the
// tool. ended reports whether the line was ended. A carriage return ends it as well: a terminal
// in raw mode sends nothing else.
func line(r io.Reader) (text string, ended bool, err error) {
	var b [1]byte
	for len(text) < maxAnswer {
		n, err := r.Read(b[:])
		switch {
		case errors.Is(err, io.EOF):
			return "", false, nil
		case err != nil:
			return "", false, err
		case n == 0:
			continue
		case b[0] == '\n':
			return text, true, nil
		case b[0] == '\r':
			return text, false, nil
		case strings.IndexByte(refusals, b[0]) >= 0:
			return "", false, nil
		}
		text += string(rune(b[0]))
	}
	return "", false, nil
}
