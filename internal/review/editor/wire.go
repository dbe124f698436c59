package editor

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/jsonrpc"
)

// Bounds of a message: the longest text of a layer with each of its characters escaped, and the headers before it.
const (
	maxMessage = 6*source.MaxSize + 1<<20
	maxHeaders = 16
	maxHeader  = 4096
)

var (
	errHeader = errors.New("a message does not begin with the headers of the language server protocol")
	errLarge  = fmt.Errorf("the message is longer than %d bytes", maxMessage)
)

// wire reads and writes messages with headers (base protocol, "Header Part").
type wire struct {
	in  *bufio.Reader
	out io.Writer
}

func newWire(in io.Reader, out io.Writer) *wire {
	return &wire{bufio.NewReaderSize(in, maxHeader), out}
}

// next returns the content of the next message. After errLarge the message behind it can be read.
func (w *wire) next() ([]byte, error) {
	length := -1
	for n := 0; ; n++ {
		line, err := w.in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && n == 0 && len(line) == 0:
			return nil, io.EOF
		case err != nil || n > maxHeaders:
			return nil, errHeader
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, errHeader
		}
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 {
				return nil, errHeader
			}
		}
	}
	switch {
	case length < 0:
		return nil, errHeader
	case length > maxMessage:
		if _, err := io.CopyN(io.Discard, w.in, int64(length)); err != nil {
			return nil, errHeader
		}
		return nil, errLarge
	}
	var body bytes.Buffer // grows with what arrives, whatever the header says
	if _, err := io.CopyN(&body, w.in, int64(length)); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return body.Bytes(), nil
}

func (w *wire) write(line []byte) error {
	body := bytes.TrimSuffix(line, []byte("\n"))
	_, err := fmt.Fprintf(w.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// answer answers a request.
func (w *wire) answer(id string, result any) error { return w.write(jsonrpc.Answer(id, result)) }

// The codes of errors besides those of JSON-RPC ("Response Message").
const (
	codeNoMethod    = -32601
	codeParams      = -32602
	codeInternal    = -32603
	codeNotInit     = -32002
	codeUnavailable = -32803 // RequestFailed
	codeCancelled   = -32800
)

func (w *wire) fail(id string, code int, text string) error {
	return w.write(jsonrpc.Fail(id, code, text))
}

// notify sends a message without an answer.
func (w *wire) notify(method string, params any) error {
	return w.write(jsonrpc.Line(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params}))
}

// request sends a message whose answer is not waited for.
func (w *wire) request(id, method string, params any) error {
	return w.write(jsonrpc.Line(struct {
		Version string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", id, method, params}))
}
