package credential_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/accessc/accessc/internal/egress/credential"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// TestMask: an answer shows the stand-in where the server shows the value in a usual encoding,
// however reads divide it, and keeps its length.
func TestMask(t *testing.T) {
	for _, value := range []string{value, `p&s"w<o>r'd/\+ %1=a`, strings.Repeat("long", 1000)} {
		s, err := credential.NewSecret([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		m := s.Mask("user")
		for i, encode := range []func(string) string{
			strings.Clone, url.QueryEscape, url.PathEscape, html.EscapeString,
			func(v string) string { return strings.ToLower(fmt.Sprintf("%%%X", 'a')) + url.QueryEscape(v) },
			func(v string) string { out, _ := json.Marshal(v); return string(out) },
			func(v string) string { return hex.EncodeToString([]byte(v)) },
			func(v string) string { return fmt.Sprintf("%X", v) },
			func(v string) string { return each(`\u%04x`, v) }, func(v string) string { return each("%%%02X", v) },
			func(v string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + v)) },
			func(v string) string { return base64.URLEncoding.EncodeToString([]byte(v)) },
			func(v string) string { return base64.RawURLEncoding.EncodeToString([]byte("user:" + v)) },
		} {
			text := "before ghp_ " + encode(value) + " between " + encode(value) + encode(value) + " after " + encode(value)
			want := "before ghp_ " + encode(string(s.StandIn)) + " between " + encode(string(s.StandIn)) + encode(string(s.StandIn)) + " after " + encode(string(s.StandIn))
			for name, split := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "bytes": iotest.OneByteReader, "end with bytes": iotest.DataErrReader} {
				if name == "bytes" && len(value) > 100 {
					continue
				}
				ended := 0
				got, err := io.ReadAll(m.Reader(credential.Answer{Body: io.NopCloser(split(strings.NewReader(text))), Size: -1, Hold: time.Hour, Ended: func() { ended++ }}))
				if err != nil || string(got) != want || ended != 1 {
					t.Errorf("encoding %d, %s: %.300s, want %.300s: %v", i, name, got, want, err)
				}
			}
		}
		for before := range 4 {
			text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + value + "tail"))
			got := []byte(text)
			m.Replace(got)
			decoded, err := base64.StdEncoding.DecodeString(string(got))
			// The characters at the edges belong to the neighbours as well.
			if err != nil || bytes.Contains(decoded, []byte(value[3:len(value)-3])) {
				t.Errorf("%d bytes before the value: %s", before, decoded)
			}
		}
	}
}

// lasting is an answer without a length that waits for as long as a test lasts.
func lasting(body io.ReadCloser) credential.Answer {
	return credential.Answer{Body: body, Size: -1, Hold: time.Hour, Ended: func() {}}
}

// each writes every character by a format.
func each(format, v string) string {
	var out strings.Builder
	for _, c := range []byte(v) {
		fmt.Fprintf(&out, format, c)
	}
	return out.String()
}

// TestMaskNames: a field whose name shows the value, in another case, is left out.
func TestMaskNames(t *testing.T) {
	s, err := credential.NewSecret([]byte("Abcdefghij1234567"))
	if err != nil {
		t.Fatal(err)
	}
	h := map[string][]string{"X-Abcdefghij1234567": {"1"}, "X-ABCDEFGHIJ1234567": nil, "X": {"an Abcdefghij1234567"}}
	s.Mask().Header(h)
	if len(h) != 1 || h["X"][0] != "an "+string(s.StandIn) {
		t.Errorf("got %v", h)
	}
}

// TestMaskLength: an encoding in which the stand-in has another length is blotted out.
func TestMaskLength(t *testing.T) {
	s, err := credential.NewSecret([]byte(value))
	if err != nil {
		t.Fatal(err)
	}
	got := []byte("<" + each("&#%d;", value) + ">")
	size := len(got)
	s.Mask().Replace(got)
	if len(got) != size || strings.Contains(string(got), each("&#%d;", value[2:6])) {
		t.Errorf("got %s", got)
	}
}

// TestMaskParts: text waits alike whether it could be the beginning of a value or not, and neither
// is changed. The beginning alone was held back, and replaced at the end: a host that echoes told
// which guesses were right.
func TestMaskParts(t *testing.T) {
	s, err := credential.NewSecret([]byte(value))
	if err != nil {
		t.Fatal(err)
	}
	waits, letGo := make(chan struct{}), make(chan time.Time)
	undo := credential.HoldUntil(waits, letGo)
	in, out := io.Pipe()
	r := s.Mask().Reader(lasting(in))
	type result struct {
		text string
		err  error
	}
	for _, text := range []string{"data: 1\n\n", "x", value[:9], "ghp_x"} {
		read := make(chan result, 1)
		go func() { _, _ = io.WriteString(out, text) }()
		go func() {
			buf := make([]byte, 100)
			n, err := r.Read(buf)
			read <- result{string(buf[:n]), err}
		}()
		// The reader waits: it has not returned, and does not before it is let go.
		await.Receive(t, "the wait of "+text, waits)
		letGo <- time.Time{}
		if got, _ := await.Receive(t, text, read); got.text != text || got.err != nil {
			t.Errorf("read %q, %v, want %q", got.text, got.err, text)
		}
	}
	undo()
	broken := errors.New("broken")
	go func() {
		_, _ = io.WriteString(out, value[:20])
		_ = out.CloseWithError(broken)
	}()
	if rest, err := io.ReadAll(r); string(rest) != "" || !errors.Is(err, broken) {
		t.Errorf("read %q, %v", rest, err)
	}
}

// TestMaskWhole: while the length of an answer says that more comes, no time lets text go, in whatever parts it comes
// and wherever they divide a value. The parts of a value came 250 ms apart on a slow link, and each was let go.
func TestMaskWhole(t *testing.T) {
	s, err := credential.NewSecret([]byte(value))
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan struct{}, 1000)
	over := make(chan time.Time)
	close(over)
	defer credential.HoldUntil(waits, over)()
	for at := range len(value) + 2 {
		text := "it is " + value + " of you"
		in, out := io.Pipe()
		a := lasting(in)
		a.Size = int64(len(text))
		go func() {
			for _, part := range []string{text[:5+at], text[5+at:]} {
				_, _ = io.WriteString(out, part)
			}
			_ = out.Close()
		}()
		got, err := io.ReadAll(s.Mask().Reader(a))
		if want := "it is " + string(s.StandIn) + " of you"; string(got) != want || err != nil {
			t.Errorf("divided at %d: %q, %v", at, got, err)
		}
	}
}

// TestMaskSplits: no reads show a value, even one whose end is its beginning, and other text stays.
func TestMaskSplits(t *testing.T) {
	seed := epoch.Seed(t)
	for i := range uint64(500) {
		r := epoch.Source(seed, i)
		word := func(n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = "ab"[r.IntN(2)]
			}
			return string(b)
		}
		part := word(1 + r.IntN(4))
		value := strings.Repeat(part, 9) + word(r.IntN(3)) + part
		s, err := credential.NewSecret([]byte(value))
		// Beside text of this alphabet a stand-in of it could make up a value.
		for err == nil && bytes.ContainsAny(s.StandIn, "ab") {
			s, err = credential.NewSecret([]byte(value))
		}
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for range r.IntN(20) {
			text.WriteString([]string{value, value[:r.IntN(len(value))], word(r.IntN(30)), "."}[r.IntN(4)])
		}
		split := func(b []byte) int { return min(len(b), 1+r.IntN(12)) }
		got, err := io.ReadAll(s.Mask().Reader(lasting(io.NopCloser(reads{strings.NewReader(text.String()), split}))))
		if err != nil || len(got) != text.Len() || bytes.Contains(got, []byte(value)) {
			t.Fatalf("source %d of seed %d: the value %s in %s: read %s, %v", i, seed, value, text.String(), got, err)
		}
		for at, c := range got {
			if c == '.' != (text.String()[at] == '.') {
				t.Fatalf("source %d of seed %d: %s became %s", i, seed, text.String(), got)
			}
		}
		plain := strings.NewReplacer("a", "c", "b", "d").Replace(text.String())
		if got, _ := io.ReadAll(s.Mask().Reader(lasting(io.NopCloser(strings.NewReader(plain))))); string(got) != plain {
			t.Fatalf("source %d of seed %d: %s became %s", i, seed, plain, got)
		}
	}
}

// reads divides the reads of a reader.
type reads struct {
	io.Reader
	size func([]byte) int
}

func (r reads) Read(b []byte) (int, error) { return r.Reader.Read(b[:r.size(b)]) }
