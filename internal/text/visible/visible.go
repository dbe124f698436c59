// Package visible escapes characters that a reader does not see: characters that move a cursor,
// colour or title a terminal, reverse the direction of a line, or have no width. Names of files
// and texts of configurations may contain any of them, and a reviewer must see all of the text,
// in its order.
//
// Text is for foreign text within a line. A Writer is for all output of a program, and comes
// after everything else: it lets through lines, tabs and, where there is colour, the few
// sequences by which this program colours. Escaped characters in a JSON string stay one JSON
// string, so documents for programs pass through it as well.
package visible

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden reports whether a reader does not see a character as what it is: control, format and
// bidirectional characters, blanks other than the space, and what has no width of its own or is
// drawn as nothing.
func Hidden(r rune) bool {
	return !unicode.IsPrint(r) || r >= utf8.RuneSelf &&
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, blank)
}

// blank are the symbols that are drawn as nothing although Unicode does not say that they may be
// ignored: the Braille pattern without dots and the musical symbol of no note head.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x1d159, Hi: 0x1d159, Stride: 1}},
}

// Text makes a text safe within a line: hidden characters are written as Go writes them in a string
// of ASCII.
func Text(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || Hidden(r) }) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r != utf8.RuneError && Hidden(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Lines makes a text of several lines safe to print as it is.
func Lines(s string) string { return string(Bytes([]byte(s))) }

// Message is Lines for a message: further lines are indented, since names may contain line
// breaks, and the text behind a break must not pass for a message of its own. Blanks that would fill the first line
// are escaped.
func Message(s string) string {
	lines := strings.Split(Lines(s), "\n")
	lines[0] = filling(lines[0])
	for i, line := range lines[1:] {
		if !strings.HasPrefix(line, "  ") {
			lines[i+1] = "  " + line
		}
	}
	return strings.Join(lines, "\n")
}

// Bytes is Lines for a document.
func Bytes(data []byte) []byte {
	out, rest := pass(nil, data, false)
	return wrong(out, rest)
}

// Writer lets visible text through and escapes the rest.
type Writer struct {
	to io.Writer
	// color is true if sequences that colour are let through.
	color bool
	// rest is the beginning of a character or sequence that is not there yet.
	rest []byte
}

// NewWriter returns a writer to another writer. With color, the sequences of palette pass.
func NewWriter(to io.Writer, color bool) *Writer { return &Writer{to: to, color: color} }

// Color sets whether sequences of the palette pass from now on.
func (w *Writer) Color(on bool) { w.color = on }

// Write implements io.Writer. It reports the bytes of p as written when all that it made of
// them was.
func (w *Writer) Write(p []byte) (int, error) {
	if len(w.rest) == 0 && plain(p) {
		return w.to.Write(p)
	}
	out, rest := pass(nil, append(w.rest, p...), w.color)
	w.rest = append([]byte(nil), rest...)
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the pending beginning of a character or sequence.
func (w *Writer) Flush() error {
	if len(w.rest) == 0 {
		return nil
	}
	_, err := w.to.Write(wrong(nil, w.rest))
	w.rest = nil
	return err
}

// Unwrap returns the writer behind.
func (w *Writer) Unwrap() io.Writer { return w.to }

// plain reports whether there is nothing but ASCII to see.
func plain(p []byte) bool {
	for _, c := range p {
		if (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// pass appends the printable form of data to out. rest is the end of data if it may be the
// beginning of a character or sequence.
func pass(out, data []byte, color bool) (_, rest []byte) {
	for len(data) > 0 {
		if color && data[0] == '\x1b' {
			n, more := sequence(data)
			if more {
				return out, data
			}
			if n > 0 {
				out, data = append(out, data[:n]...), data[n:]
				continue
			}
		}
		r, n := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && n == 1 && !utf8.FullRune(data):
			return out, data
		case r == utf8.RuneError && n == 1:
			out = wrong(out, data[:1])
		case r == '\n' || r == '\t' || !Hidden(r):
			out = append(out, data[:n]...)
		default:
			out = escape(out, r)
		}
		data = data[n:]
	}
	return out, nil
}

// wrong appends bytes that are no characters.
func wrong(out, data []byte) []byte {
	for _, c := range data {
		if c < utf8.RuneSelf {
			out = escape(out, rune(c))
		} else {
			out = fmt.Appendf(out, `\x%02x`, c)
		}
	}
	return out
}

// escape appends a character as JSON has it in a string (RFC 8259, section 7).
func escape(out []byte, r rune) []byte {
	if r < ' ' || r > '~' {
		if a, b := utf16.EncodeRune(r); a != utf8.RuneError {
			return fmt.Appendf(out, `\u%04x\u%04x`, a, b)
		}
		return fmt.Appendf(out, `\u%04x`, r)
	}
	return append(out, byte(r))
}

// palette are the parameters of the sequences that this program colours by (ECMA-48, SGR):
// none hides, blinks or changes places.
var palette = []string{"0", "1", "2", "31", "32", "33", "34", "36", "1;31", "1;33"}

// sequence is the length of a sequence of the palette that data begins with. more says that
// data may be the beginning of a sequence.
func sequence(data []byte) (n int, more bool) {
	for _, p := range palette {
		whole := "\x1b[" + p + "m"
		switch {
		case strings.HasPrefix(string(data[:min(len(data), len(whole))]), whole):
			return len(whole), false
		case strings.HasPrefix(whole, string(data[:min(len(data), len(whole))])) && len(data) < len(whole):
			more = true
		}
	}
	return 0, more
}
