package evidencecheck

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/accessc/accessc/internal/denial/evidencelog"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// events are the members of a line by the word that names them.
func events(l *evidencelog.Line) map[string]bool {
	return map[string]bool{
		"begin": l.Begin != nil, "operation": l.Operation != nil, "grants": l.Grants != nil,
		"dropped": l.Dropped != nil, "end": l.End != nil, "signature": l.Signature != nil,
	}
}

// Parse reads a line without its line feed. Every member is known and stands once.
func Parse(text []byte) (*evidencelog.Line, error) {
	var l evidencelog.Line
	if err := strictjson.Unmarshal(text, &l); err != nil {
		return nil, err
	}
	if l.Version != evidencelog.Version {
		return nil, fmt.Errorf("found version %d, expected %d", l.Version, evidencelog.Version)
	}
	has := events(&l)
	for event, is := range has {
		if is != (event == l.Event) {
			return nil, fmt.Errorf("the member of %.20q is not there, or is not the only one", l.Event)
		}
	}
	if !has[l.Event] {
		return nil, fmt.Errorf("found the event %.20q", l.Event)
	}
	if _, err := time.Parse(time.RFC3339Nano, l.Time); err != nil {
		return nil, errors.New("the time is not of RFC 3339")
	}
	if op := l.Operation; op != nil {
		if err := op.Decode(); err != nil {
			return nil, errors.New("a text is not base64")
		}
		if op.Times != 1 {
			return nil, errors.New("a line is about one operation")
		}
	}
	if l.Signature != nil && !json.Valid(l.Signature) {
		return nil, errors.New("the signature is not JSON")
	}
	return &l, nil
}

var errLong = errors.New("a line is too long")

// lines calls a function with each line of a log, without its line feed. ended is false for a last line that has none.
func lines(from io.Reader, each func(text []byte, ended bool) error) error {
	r := bufio.NewReaderSize(from, 1<<16)
	var long []byte
	for {
		part, err := r.ReadSlice('\n')
		if err == nil && len(long) == 0 {
			if err := each(part[:len(part)-1], true); err != nil {
				return err
			}
			continue
		}
		if long = append(long, part...); len(long) > evidencelog.MaxLine {
			return errLong
		}
		switch {
		case err == nil:
			text, _ := bytes.CutSuffix(long, []byte{'\n'})
			if err := each(slices.Clone(text), true); err != nil {
				return err
			}
			long = long[:0]
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			if len(long) > 0 {
				return each(long, false)
			}
			return nil
		default:
			return err
		}
	}
}
