package credential_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/accessc/accessc/internal/egress/credential"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// times escapes a text in many layers of a kind.
func times(n int, f func(string) string) func(string) string {
	return func(s string) string {
		for range n {
			s = f(s)
		}
		return s
	}
}

// spellings are ways to write every byte, of which none has a bound to its width but by its layers.
var spellings = map[string]func(string) string{
	"long decimals":      func(s string) string { return each("&#%020d;", s) },
	"long hexadecimals":  func(s string) string { return each("&#x%030x;", s) },
	"large hexadecimals": func(s string) string { return each("&#X%030X;", s) },
	"long braces":        func(s string) string { return each(`\u{%020x}`, s) },
	"Perl":               func(s string) string { return each(`\x{%x}`, s) },
	"Perl, blanks":       func(s string) string { return each(`\x{ %04X }`, s) },
	"Perl, octal":        func(s string) string { return each(`\o{%o}`, s) },
	"Perl, names":        func(s string) string { return each(`\N{U+%04X}`, s) },
	"Lua":                func(s string) string { return each(`\%03d`, s) },
	"short octal":        func(s string) string { return each(`\%o`, s) },
	"bash":               func(s string) string { return each(`\0%03o`, s) },
	"CSS":                func(s string) string { return each(`\%x `, s) },
	"CSS, six":           func(s string) string { return each(`\%06X`, s) },
	"CSS, six and blank": func(s string) string { return each(`\%06x `, s) },
	"SQL":                func(s string) string { return each(`\+%06x`, s) },
	"Java":               func(s string) string { return each(`\uuuu%04x`, s) },
	"C":                  func(s string) string { return each(`\x%08x`, s) },
	"escaped digits":     percents,
	"percents twice":     times(2, percents),
	"HTML, thrice":       func(s string) string { return times(3, html.EscapeString)(each("&#%03d;", s)) },
	"JSON, thrice":       func(s string) string { return times(3, quoted)(each(`\u%04x`, s)) },
	"in JSON numbers":    func(s string) string { return each(`\u%04x`, each(`&#%d;`, s)) },
	"a query, thrice":    func(s string) string { return times(3, url.QueryEscape)(each("%%%02x", s)) },
}

func quoted(s string) string {
	out, _ := json.Marshal(s)
	return string(out[1 : len(out)-1])
}

// percents escapes the digits of escapes as well.
func percents(s string) string {
	var out strings.Builder
	for _, c := range []byte(s) {
		out.WriteString("%25" + each("%%%02x", fmt.Sprintf("%02x", c)))
	}
	return out.String()
}

// breaks are what a line may break with, in any number.
var breaks = []string{
	"\n", "\r\n", "\n ", "\r\n\t", "  \n  ", `\n`, `\r\n`, `\n\t`, "%0A", "%0d%0A%20", "%0A+", "&#10;", "&#x0a;&#9;", "&NewLine;",
	`\u000a`, `\u{0a} `, "=\r\n", "\\\n", "=0D=0A", `\a `, `\012`, "\v", "\f",
}

// changed reports a text that stays as it was, or has another length.
func changed(t *testing.T, name, text, got string) {
	t.Helper()
	if len(got) != len(text) || got == text {
		t.Errorf("%s: %.300q became %.300q", name, text, got)
	}
}

// TestMaskSpellings: every spelling of every byte is found, in whatever parts the answer comes.
func TestMaskSpellings(t *testing.T) {
	s, err := credential.NewSecret([]byte("S3cr3tTok+en/0fL1ne"))
	if err != nil {
		t.Fatal(err)
	}
	m := s.Mask()
	for name, spell := range spellings {
		for _, end := range []string{"", " tail", strings.Repeat(" and more", 2000)} {
			text := "it is " + spell(string(s.Value)) + end
			got := []byte(text)
			m.Replace(got)
			changed(t, name, text, string(got))
			if m.Shows(string(got)) {
				t.Errorf("%s: %s shows it", name, got)
			}
			for _, r := range []io.Reader{iotest.HalfReader(strings.NewReader(text)), strings.NewReader(text)} {
				read, err := io.ReadAll(m.Reader(lasting(io.NopCloser(r))))
				if err != nil || !bytes.Equal(read, got) {
					t.Errorf("%s: read %.300q, want %.300q: %v", name, read, got, err)
				}
			}
		}
	}
}

// TestMaskRuns: a run of line breaks and blanks of any length, in any mixture of spellings, is no more than a break.
func TestMaskRuns(t *testing.T) {
	r := epoch.Source(epoch.Seed(t), 0)
	for _, value := range []string{"S3cr3tTok+en/0fL1ne", "=+cr3tTok+en=0fL1ne", "correct h0rse  battery"} {
		s, err := credential.NewSecret([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		m := s.Mask()
		for i := range 60 {
			at, run := 1+r.IntN(len(value)-1), ""
			if i < len(breaks) {
				run = strings.Repeat(breaks[i], 3000)
			}
			for range r.IntN(400) {
				run += breaks[r.IntN(len(breaks))]
			}
			if run += "\n" + strings.Repeat(" ", r.IntN(9)); i%2 == 0 {
				run = "\n" + run
			}
			text := "x" + value[:at] + run + value[at:] + "x"
			got := []byte(text)
			m.Replace(got)
			changed(t, run[:min(9, len(run))], text, string(got))
			read, err := io.ReadAll(m.Reader(lasting(io.NopCloser(iotest.HalfReader(strings.NewReader(text))))))
			if err != nil || !bytes.Equal(read, got) {
				t.Errorf("%.20q at %d: read another text: %v", run, at, err)
			}
		}
	}
}

// TestMaskFolds: the parser of headers has made a blank of a line break, which divides a value there.
func TestMaskFolds(t *testing.T) {
	for _, value := range []string{"S3cr3tTok+en/0fL1ne", "correct h0rse battery"} {
		s, err := credential.NewSecret([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		for at := 1; at < len(value); at++ {
			for _, fold := range []string{" ", "  ", " \t ", "%20", strings.Repeat(" ", 100)} {
				text := "a " + value[:at] + fold + value[at:]
				h := map[string][]string{"X": {text}}
				s.Mask().Header(h)
				changed(t, "header", text, h["X"][0])
			}
		}
	}
}

// TestMaskMarks: a byte of the value that a run of breaks may have as well, before a line break, is found wherever
// lines break around it. Causes: an equals sign before a line break counted as quoted-printable's alone, so that
// nothing of the value was masked (the first two texts).
func TestMaskMarks(t *testing.T) {
	texts := map[string][]string{
		"pbCpVd4d6g6jFO=uG": {"\\160b\n\\x43pV\\u{64}4=64%36g6\\152FO\n=\nu&amp;#71;"},
		"U0QXwY=C?1S:_Z7Vg": {"&#85;\r\n%30\\n%51\\x58&#x77;Y\\n\\075\n\\103&amp;#63;1&#x53;%3A\\x5fZ\\067=56\\u0026#x67;"},
	}
	around := []string{"", "\n", "\r\n", "=\n", "\\\n", "\n\n", "=0A", "%0A", `\n`, "&#10;", "\n  ", "=\r\n=\r\n"}
	for _, marks := range []string{"=", `\`, "+", "==", "=+", "+=", `\=`} {
		value := "S3cr3tTok" + marks + "en0fL1ne"
		for _, before := range around {
			for _, behind := range around {
				for _, between := range []string{"", "\n", "=\n"} {
					text := "S3cr3tTok" + before + marks[:1]
					if len(marks) > 1 {
						text += between + marks[1:]
					}
					texts[value] = append(texts[value], text+behind+"en0fL1ne", text+behind+"en&#48;fL1ne")
				}
			}
		}
	}
	for value, all := range texts {
		s, err := credential.NewSecret([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		m := s.Mask()
		for _, text := range all {
			got := []byte("value=" + text)
			m.Replace(got)
			changed(t, value, "value="+text, string(got))
			if m.Shows(string(got)) {
				t.Errorf("%q shows %s", got, value)
			}
		}
	}
}
