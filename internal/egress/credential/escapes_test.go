package credential_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"mime/quotedprintable"
	"net/url"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/egress/credential"
	"github.com/accessc/accessc/test/irtest"
)

// cloudKey is shaped like the keys of clouds: base64 text.
const cloudKey = "Zm9v+YmFy/cXV4eHg+MTIz/NDU2Nzg5QUJDREVG=="

// TestMaskEncoders: an answer shows the stand-in in the forms that libraries write, each of which escapes other bytes.
// A list of whole encodings missed those of Python, .NET and MIME.
func TestMaskEncoders(t *testing.T) {
	replaced := func(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }
	var lines = func(s string, width int, end string) (out string) {
		for ; len(s) > width; s = s[width:] {
			out += s[:width] + end
		}
		return out + s
	}
	inJSON := func(s string) string { out, _ := json.Marshal(s); return string(out) }
	for name, encode := range map[string]func(string) string{
		"Python's quote":       replaced("+", "%2B", "=", "%3D"),
		"its lower case":       replaced("+", "%2b", "=", "%3d"),
		".NET's JSON":          replaced("+", `\u002B`),
		"ASP.NET's HTML":       replaced("+", "&#x2B;"),
		"HTML by names":        replaced("+", "&plus;", "/", "&sol;", "=", "&equals;"),
		"HTML by long numbers": replaced("+", "&#00043;", "/", "&#x002f;"),
		"HTML without the end": replaced("/", "&#47"),
		"PHP's JSON":           replaced("/", `\/`),
		"JSON in JSON":         replaced("/", `\\/`, "+", `\\u002b`),
		"JSON in HTML":         func(s string) string { return html.EscapeString(inJSON(strings.ReplaceAll(s, "+", `"`)))[5:] },
		"HTML in JSON":         replaced("+", `\u0026#x2B;`),
		"percent twice":        func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
		"percent thrice":       func(s string) string { return url.QueryEscape(url.QueryEscape(url.QueryEscape(s))) },
		"ECMAScript's escape":  replaced("+", "%u002B", "=", "%3D"),
		"C":                    replaced("/", `\057`, "+", `\x2b`),
		"Rust":                 replaced("/", `\u{2f}`),
		"quoted-printable":     replaced("=", "=3D"),
		"lines":                func(s string) string { return lines(s, 20, "\r\n") },
		"folded lines":         func(s string) string { return lines(s, 20, "\r\n\t") },
		"lines in JSON":        func(s string) string { return lines(s, 20, `\n`) },
		"lines of a shell":     func(s string) string { return lines(s, 20, "\\\n") },
		"MIME":                 func(s string) string { return lines(base64.StdEncoding.EncodeToString([]byte(s)), 16, "\r\n") },
		"base64 in a query":    func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) },
		"base64 lines in JSON": func(s string) string { return lines(base64.StdEncoding.EncodeToString([]byte(s)), 16, `\n`) },
		"hexadecimal lines":    func(s string) string { return lines(hex.EncodeToString([]byte(s)), 16, "\n") },
		"hexadecimal in C":     func(s string) string { return each(`\x%02X`, s) },
		"percent, mixed":       func(s string) string { return each("%%%02X", s[:9]) + s[9:20] + each("%%%02X", s[20:]) },
		"quoted-printable lines": func(s string) string {
			var b bytes.Buffer
			w := quotedprintable.NewWriter(&b)
			_, _ = io.WriteString(w, strings.Repeat("x", 60)+s)
			_ = w.Close()
			return b.String()
		},
	} {
		key := cloudKey
		if name == "JSON in HTML" {
			key = strings.ReplaceAll(key, "+", `"`)
		}
		s, err := credential.NewSecret([]byte(key))
		if err != nil {
			t.Fatal(err)
		}
		text, want := "x: "+encode(key)+" y", "x: "+encode(string(s.StandIn))+" y"
		got := []byte(text)
		s.Mask("user").Replace(got)
		if string(got) != want {
			t.Errorf("%s:\n%s became\n%s, want\n%s", name, text, got, want)
		}
	}
}

// escaped are ways to write a byte.
var escaped = []string{"%c", "%%%02x", "%%%02X", `\u%04x`, `\x%02x`, `\%03o`, "&#%d;", "&#x%X;", "=%02X", `\u{%x}`, "%%25%02x", "&amp;#%d;", `\u0026#x%02x;`}

// TestMaskEveryByte: however each byte is written and wherever lines break, an answer shows another byte where the
// stand-in has one.
func TestMaskEveryByte(t *testing.T) {
	const alphabet = `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=-_.~"'<>;:!?`
	irtest.Many(t, 100_000, func(r *rand.Rand) error {
		key := make([]byte, 12+r.IntN(30))
		for i := range key {
			key[i] = alphabet[r.IntN(len(alphabet))]
		}
		s, err := credential.NewSecret(key)
		if err != nil {
			return nil
		}
		shown, other := key, s.StandIn
		switch r.IntN(4) {
		case 0:
			shown, other = []byte(base64.RawStdEncoding.EncodeToString(key)), []byte(base64.RawStdEncoding.EncodeToString(s.StandIn))
		case 1:
			shown, other = []byte(hex.EncodeToString(key)), []byte(hex.EncodeToString(s.StandIn))
		}
		text := []byte("value=")
		spans := make([][2]int, len(shown))
		plain := r.IntN(10)
		for i, c := range shown {
			if i > 0 && r.IntN(20) == 0 {
				text = append(text, []string{"\n", "\r\n", `\n`, "=\r\n", "\\\n"}[r.IntN(5)]...)
			}
			way := "%c"
			if r.IntN(10) >= plain {
				way = escaped[r.IntN(len(escaped))]
			}
			begin := len(text)
			text = fmt.Appendf(text, way, c)
			spans[i] = [2]int{begin, len(text)}
		}
		got := bytes.Clone(text)
		s.Mask().Replace(got)
		if len(got) != len(text) {
			return fmt.Errorf("%s became %s", text, got)
		}
		for i, at := range spans {
			// The last character of base64 may have bits of its neighbour, and the text of an escape can be the
			// first bytes of the value itself: 3%35 before the rest of a value that begins with 35.
			if i < 2 || i == len(spans)-1 {
				continue
			}
			if shown[i] != other[i] && bytes.Equal(got[at[0]:at[1]], text[at[0]:at[1]]) {
				return fmt.Errorf("%q became %q: shows %q at %d of %s", text, got, shown[i], i, shown)
			}
		}
		return nil
	})
}

// TestMaskLeavesOthers: a text that does not show the value stays as it is, whatever escapes are in it.
func TestMaskLeavesOthers(t *testing.T) {
	parts := []string{
		"%", "%2", "%25", "%u", "%u00", "&", "&#", "&#x", "&#x2B", "&#43", "&plus;", "&amp;", ";", "\\", `\u`, `\u{`, `\u002`, `\u{2b}`, `\U0000002B`,
		`\x2`, `\05`, "=", "=3", "=\r\n", "\r\n\t ", "+", cloudKey[:9], cloudKey[3:30], cloudKey[20:], "\x00", "\xff", "é", "}", " ",
	}
	s, err := credential.NewSecret([]byte(cloudKey))
	if err != nil {
		t.Fatal(err)
	}
	m := s.Mask("user")
	irtest.Many(t, 200_000, func(r *rand.Rand) error {
		var text []byte
		for range r.IntN(40) {
			text = append(text, parts[r.IntN(len(parts))]...)
		}
		got := bytes.Clone(text)
		m.Replace(got)
		if !bytes.Equal(got, text) && !m.Shows(string(text)) || len(got) != len(text) {
			return fmt.Errorf("%q became %q", text, got)
		}
		if m.Shows(string(text)) {
			return fmt.Errorf("%q shows the value", text)
		}
		return nil
	})
}
