package main

import (
	"bufio"
	"bytes"
	"io"
	"testing"
)

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
				if w, err := q.question(); err == nil && w.Verb != q.Operation {
					t.Errorf("%q asks %+v", line, w)
				}
			}
		}
		if !bytes.Equal(all, data) {
			t.Errorf("%q came as %q", data, all)
		}
	})
}
