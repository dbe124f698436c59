package asked

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// TestLineKeys: each key of a line counts once and as it is spelled: the last of two gave the answer, and readers that
// tell upper from lower case had asked another question.
func TestLineKeys(t *testing.T) {
	for _, into := range []any{&Line{}, &DecideLine{}} {
		shape := reflect.TypeOf(into).Elem()
		for i := range shape.NumField() {
			f := shape.Field(i)
			key, value := f.Tag.Get("json"), `"a"`
			switch f.Type.Kind() {
			case reflect.Bool:
				value = "true"
			case reflect.Slice:
				value = `["a"]`
			default:
			}
			if err := decodeLine(fmt.Appendf(nil, `{%q:%s}`, key, value), false, into, "keys"); err != nil && key != "id" {
				t.Errorf("%T: %s: %v", into, key, err)
			}
			for _, second := range []string{key, strings.ToUpper(key)} {
				line := fmt.Appendf(nil, `{%q:%s,%q:%s}`, key, value, second, value)
				if decodeLine(line, false, into, "keys") == nil {
					t.Errorf("%T reads %s", into, line)
				}
			}
		}
	}
}

// FuzzLines: for any input, each line is a question or an error, and no byte of one line counts
// for another.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"operation\":\"read\",\"target\":\"a\"}\n\n{"))
	f.Add([]byte(`{"operation":"run","target":"a","arguments":["b"],"id":[[1]]}` + "\r\n[]\n\"\xff\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bufio.NewReaderSize(bytes.NewReader(data), 16)
		var all []byte
		for {
			line, long, err := readLine(in)
			if err != nil {
				if err != io.EOF {
					t.Fatal(err)
				}
				break
			}
			all = append(all, line...)
			if q, err := parseLine(line, long); err == nil {
				if w, err := q.Question(); err == nil && w.Verb != q.Operation {
					t.Errorf("%q asks %+v", line, w)
				}
			}
		}
		if !bytes.Equal(all, data) {
			t.Errorf("%q came as %q", data, all)
		}
	})
}
