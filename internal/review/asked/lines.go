package asked

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// maxLine bounds a question, in bytes.
const maxLine = 1 << 20

// Lines answers each line of a stream by a line of JSON, at once where no other
// line waits. A line without answer is skipped.
func Lines(from io.Reader, to io.Writer, answer func(line []byte, long bool) (any, bool)) error {
	lines, out := bufio.NewReaderSize(from, 1<<16), bufio.NewWriter(to)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for {
		line, long, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return err
		}
		if r, ok := answer(line, long); ok {
			err = enc.Encode(r)
		}
		if err == nil && lines.Buffered() == 0 {
			// Whoever asks waits for the answer before the next question.
			err = out.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// decodeLine reads a line of JSON into a struct, which has the keys. A key that stands twice, or in another case, is a
// mistake: whoever wrote the line may read the other value.
func decodeLine(line []byte, long bool, into any, keys string) error {
	switch {
	case long:
		return fmt.Errorf("found a line of more than %d bytes", maxLine)
	case !utf8.Valid(line):
		return errors.New("found invalid UTF-8")
	}
	strict := strictjson.Unmarshal(line, into)
	if strict == nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(line)) // for the words of the mistake, and the id
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return mistake(err, keys)
	}
	if dec.More() {
		return errors.New("found more than one value in a line")
	}
	return fmt.Errorf("found %w", strict)
}

// mistake describes the problem of a line in the words of the input.
func mistake(err error, keys string) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		switch {
		case kind.Field == "":
			return fmt.Errorf("found %s, expected an object", kind.Value)
		case kind.Type.Kind() == reflect.Bool:
			return fmt.Errorf("found %s in %q, expected true or false", kind.Value, kind.Field)
		case kind.Type.Kind() == reflect.Slice:
			return fmt.Errorf("found %s in %q, expected a list of strings", kind.Value, kind.Field)
		default:
			return fmt.Errorf("found %s in %q, expected a string", kind.Value, kind.Field)
		}
	}
	if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("found %s, expected one of %s", key, keys)
	}
	return fmt.Errorf("not JSON: %w", err)
}

// readLine returns the next line without its end, or says that it is too long to be
// returned. The last line needs no end.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case err == nil, errors.Is(err, io.EOF) && (len(line) > 0 || long):
			return line, long, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}
