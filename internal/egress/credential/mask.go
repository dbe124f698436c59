package credential

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
)

// A Mask puts stand-ins where answers show a value, as it is or in a usual encoding. Each has the
// length of the text that it replaces, so answers keep theirs. See RATIONALE D116.
type Mask struct {
	pairs []pair // the longest first
}

type pair struct{ value, standIn []byte }

// Mask is the mask of a value that requests carry with these users.
func (s Secret) Mask(users ...string) *Mask {
	m := &Mask{}
	for _, encode := range encodings(users) {
		p := pair{[]byte(encode(s.Value)), []byte(encode(s.StandIn))}
		known := slices.ContainsFunc(m.pairs, func(o pair) bool { return bytes.Equal(o.value, p.value) })
		if len(p.value) != len(p.standIn) {
			p.standIn = bytes.Repeat([]byte("*"), len(p.value))
		}
		if !known {
			m.pairs = append(m.pairs, p)
		}
	}
	// A longer one may hold a shorter one.
	slices.SortStableFunc(m.pairs, func(a, b pair) int { return len(b.value) - len(a.value) })
	return m
}

// encodings are the forms in which servers show a value that they were sent.
func encodings(users []string) []func([]byte) string {
	plain := func(encode func(string) string) func([]byte) string {
		return func(b []byte) string { return encode(string(b)) }
	}
	out := escapes()
	out = append(out,
		plain(strings.Clone), plain(url.QueryEscape), plain(url.PathEscape), plain(html.EscapeString),
		plain(func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }),
		plain(func(s string) string { return lowerEscapes(url.QueryEscape(s)) }),
		plain(jsonString), plain(func(s string) string { return strings.ReplaceAll(jsonString(s), "/", `\/`) }),
		plain(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace),
		hex.EncodeToString, func(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) },
	)
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		out = append(out, alphabet.EncodeToString)
		for _, user := range users {
			out = append(out, func(b []byte) string { return alphabet.EncodeToString([]byte(user + ":" + string(b))) })
		}
		for before := range 3 {
			out = append(out, func(b []byte) string { return within(alphabet, before, b) })
		}
	}
	return out
}

// escapes are the forms in which every character is escaped: in URLs, in JSON and in HTML.
func escapes() (out []func([]byte) string) {
	for _, format := range []string{"%%%02X", "%%%02x", `\u%04X`, `\u%04x`, `\x%02x`, "&#%d;", "&#x%x;", "&#x%X;"} {
		out = append(out, func(b []byte) string {
			var s strings.Builder
			for _, c := range b {
				fmt.Fprintf(&s, format, c)
			}
			return s.String()
		})
	}
	return out
}

// within is the part of an encoded text that a value in it determines alone, with a number of
// bytes before it that leaves a remainder of 3.
func within(alphabet *base64.Encoding, before int, b []byte) string {
	text := append(make([]byte, before, before+len(b)), b...)
	return alphabet.EncodeToString(text)[(before*8+5)/6 : len(text)*8/6]
}

func jsonString(s string) string {
	out, _ := json.Marshal(s)
	return strings.Trim(string(out), `"`)
}

// lowerEscapes writes percent-encoded characters with small letters.
func lowerEscapes(s string) string {
	out := []byte(s)
	for i := 0; i < len(out); i++ {
		if out[i] == '%' {
			copy(out[i:], bytes.ToLower(out[i:min(i+3, len(out))]))
		}
	}
	return string(out)
}

// Replace puts stand-ins into a text.
func (m *Mask) Replace(b []byte) { m.replace(b, len(b)) }

// replace puts stand-ins where values begin before a place.
func (m *Mask) replace(b []byte, end int) {
	for _, p := range m.pairs {
		for at := 0; at < end; {
			i := bytes.Index(b[at:], p.value)
			if i < 0 || at+i >= end {
				break
			}
			at += i + copy(b[at+i:], p.standIn)
		}
	}
}

// Shows reports whether a text shows the value.
func (m *Mask) Shows(s string) bool {
	return slices.ContainsFunc(m.pairs, func(p pair) bool { return strings.Contains(s, string(p.value)) })
}

// names reports whether the name of a field shows the value.
func (m *Mask) names(field string) bool {
	field = strings.ToLower(field)
	return slices.ContainsFunc(m.pairs, func(p pair) bool { return strings.Contains(field, strings.ToLower(string(p.value))) })
}

// Header puts stand-ins into the values of a header, and leaves out fields whose names show a value,
// in whatever case they are written.
func (m *Mask) Header(h map[string][]string) {
	for name, values := range h {
		if m.names(name) {
			delete(h, name)
			continue
		}
		for i, v := range values {
			if m.Shows(v) {
				b := []byte(v)
				m.Replace(b)
				values[i] = string(b)
			}
		}
	}
}
