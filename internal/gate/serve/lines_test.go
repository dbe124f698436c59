package serve

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
)

// TestLines: however a stream is cut into reads, its lines are the same, a line that is too long is told once, and
// descriptors that come with the first byte of a line are that line's.
func TestLines(t *testing.T) {
	irtest.Check(t, 300, 1, func(t *rapid.T) {
		type sent struct {
			text  string
			files int
		}
		var all []sent
		for range rapid.IntRange(0, 6).Draw(t, "lines") {
			s := sent{files: rapid.IntRange(0, 3).Draw(t, "files")}
			n := rapid.SampledFrom([]int{0, 1, 10, chunk - 1, chunk, maxLine - 1, maxLine, maxLine + 1, 2*maxLine + 5}).Draw(t, "length")
			s.text = strings.Repeat("x", n)
			all = append(all, s)
		}
		// The kernel ends a read behind the piece that descriptors came with, and may end it anywhere.
		var pieces []sent
		for _, s := range all {
			rest := sent{s.text + "\n", s.files}
			for len(rest.text) > 0 {
				n := rapid.IntRange(1, len(rest.text)).Draw(t, "cut")
				pieces = append(pieces, sent{rest.text[:n], rest.files})
				rest = sent{rest.text[n:], 0}
			}
		}
		glue := rapid.Bool().Draw(t, "glue")
		l := lines{known: true, read: func(b []byte) (n int, files []*os.File, err error) {
			for len(pieces) > 0 && n < len(b) && files == nil {
				p := &pieces[0]
				for range p.files {
					files = append(files, nil)
				}
				k := copy(b[n:], p.text)
				n += k
				if p.text, p.files = p.text[k:], 0; p.text == "" {
					pieces = pieces[1:]
				}
				if !glue {
					return n, files, nil
				}
			}
			if n == 0 {
				err = io.EOF
			}
			return n, files, err
		}}
		for i, s := range all {
			m, err := l.next()
			if err != nil {
				t.Fatal(err)
			}
			long := len(s.text)+1 > maxLine
			want := fmt.Sprint(len(s.text)+1, s.files, false)
			if long {
				want = fmt.Sprint(maxLine/2, 0, true)
			}
			if got := fmt.Sprint(len(m.line), len(m.files), m.long); got != want {
				t.Fatalf("line %d: got %s, want %s", i, got, want)
			}
		}
		if m, err := l.next(); err == nil {
			t.Fatalf("got %d bytes behind the end", len(m.line))
		}
	})
}

// TestLinesMemory: requests that come one after the other are read into the same memory.
func TestLinesMemory(t *testing.T) {
	const line = `{"id":1,"method":"wait","params":{"run":1}}` + "\n"
	l := lines{read: func(b []byte) (int, []*os.File, error) { return copy(b, line), nil, nil }}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const times = 1000
	for range times {
		if m, err := l.next(); err != nil || string(m.line) != line {
			t.Fatalf("got %q, %v", m.line, err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / times; each > 1024 {
		t.Errorf("a line of %d bytes takes %d", len(line), each)
	}
}
