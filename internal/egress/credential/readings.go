package credential

import (
	"html"
	"slices"
)

// A server may escape every byte of a value by itself, and some of them twice: a JSON text in JSON, an
// address in HTML. A cell is a byte that a text shows, and where in the text.
type cell struct {
	c       byte
	at, end int32
}

const (
	// deepest is how often the whole of an answer may be escaped around the escapes of a value.
	deepest = 3
	// longestName is the length of the longest names that HTML has for characters of ASCII, with room to spare.
	longestName = 24
)

// plain is a text as it stands.
func plain(out []cell, b []byte) []cell {
	for i, c := range b {
		out = append(out, cell{c, int32(i), int32(i) + 1})
	}
	return out
}

// decoded takes one layer of escapes away. Escapes that are no more than a likely guess stay: a plus sign and an
// equals sign are parts of values.
func decoded(out, s []cell) (_ []cell, changed bool) {
	for i := 0; i < len(s); {
		if s[i].c == '%' || s[i].c == '\\' || s[i].c == '&' {
			if c, end, ok := escape(s, i); ok {
				out, changed = append(out, cell{c, s[i].at, s[end-1].end}), true
				i = end
				continue
			}
		}
		out = append(out, s[i])
		i++
	}
	return out, changed
}

// escapes reports whether an escape can begin with a byte.
func escapes(c byte) bool { return c == '%' || c == '\\' || c == '&' || c == '=' || c == '+' }

// A reading is what an escape may stand for, and where it ends.
type reading struct {
	c   byte
	end int
}

// most is room for the readings of an escape.
const most = 16

// escape is the likeliest reading of an escape.
func escape(s []cell, i int) (c byte, end int, ok bool) {
	var room [most]reading
	if out := readings(room[:0], s, i); len(out) > 0 {
		return out[0].c, out[0].end, true
	}
	return 0, i, false
}

// readings adds what an escape at a place may stand for, the likeliest first: percent-encoding and quoted-printable
// (RFC 3986, 2.1; RFC 2045, 6.7), JSON, CSS, languages, whose numbers are of any base and length, and HTML.
func readings(out []reading, s []cell, i int) []reading {
	first := s[i].c
	i++
	switch {
	case first == '+':
		return append(out, reading{' ', i}) // application/x-www-form-urlencoded
	case i == len(s):
	case first == '%' && (s[i].c == 'u' || s[i].c == 'U'): // escape() of ECMAScript, annex B
		return letter(out, s, i, 16)
	case first == '=', first == '%':
		if i+1 < len(s) && digit(s[i].c) < 8 && digit(s[i+1].c) < 16 {
			return append(out, reading{byte(digit(s[i].c)<<4 | digit(s[i+1].c)), i + 2})
		}
	case first == '\\':
		return backslash(out, s, i)
	case first == '&':
		return entity(out, s, i)
	}
	return out
}

// control reads the escapes of C, and the escapes of CSS for breaks by their numbers.
func control(c byte) (byte, bool) {
	switch c {
	case 'n', 'a', 'A':
		return '\n', true
	case 'r', 'd', 'D':
		return '\r', true
	case 't', 'v', 'f':
		return '\t', true
	}
	return 0, false
}

func backslash(out []reading, s []cell, i int) []reading {
	c := s[i].c
	if c <= ' ' || c >= 0x7f {
		return out
	}
	switch {
	case c == 'u', c == 'U', c == 'x', c == 'X', c == 'N':
		out = letter(out, s, i, 16)
	case c == 'o', c == 'O':
		out = letter(out, s, i, 8)
	case c < '0', c > '9' && c < 'A', c > 'Z' && c < 'a', c > 'z':
		if out = append(out, reading{c, i + 1}); c == '+' { // of SQL
			out = numbers(out, s, i+1, 16, 0)
		}
		return out
	case c > '9':
		if to, ok := control(c); ok {
			out = blankBehind(append(out, reading{to, i + 1}), s, len(out))
		}
	default:
		n, end := 0, i
		for ; end < len(s) && end < i+3 && digit(s[end].c) < 8; end++ {
			n = n*8 + digit(s[end].c)
		}
		if n >= '\t' && n < 0x80 { // C, with up to three digits
			out = append(out, reading{byte(n), end})
		}
		out = numbers(numbers(out, s, i, 8, 0), s, i, 10, 0)
		from := len(out)
		out = blankBehind(numbers(out, s, i, 16, 0), s, from)
	}
	return append(out, reading{c, i + 1}) // which JavaScript and shells leave
}

// blankBehind adds the readings in which a blank ends a number, as in CSS.
func blankBehind(out []reading, s []cell, from int) []reading {
	for _, r := range out[from:] {
		if r.end < len(s) && (blank(s[r.end].c) || lineBreak(s[r.end].c)) {
			out = append(out, reading{r.c, r.end + 1})
		}
	}
	return out
}

// letter reads a number behind a letter, in brackets or not.
func letter(out []reading, s []cell, i, base int) []reading {
	for c := s[i].c; i < len(s) && s[i].c == c; { // Java has any number of them
		i++
	}
	var last byte
	if i < len(s) {
		switch c := s[i].c; c {
		case '{', '[', '<':
			last = c + 2
		case '(':
			last = ')'
		}
	}
	if last != 0 {
		for i++; i < len(s) && blank(s[i].c); {
			i++
		}
	}
	if i+1 < len(s) && (s[i+1].c == '+' && lower(s[i].c) == 'u' || s[i].c == '0' && lower(s[i+1].c) == 'x') {
		i += 2
	}
	return numbers(out, s, i, base, last)
}

// numbers adds the readings of a number, of any length by zeros in front: the longest first. Where something has to
// close it, the reading ends there; a semicolon may.
func numbers(out []reading, s []cell, i, base int, last byte) []reading {
	for i < len(s) && s[i].c == '0' {
		i++
	}
	n, from := 0, len(out)
	for i < len(s) && digit(s[i].c) < base {
		if n = n*base + digit(s[i].c); n >= 0x80 {
			break
		}
		if i++; n < '\t' {
			continue
		}
		end := i
		for last != 0 && last != ';' && end < len(s) && blank(s[end].c) {
			end++
		}
		if closed := end < len(s) && s[end].c == last; closed && last != 0 {
			out = append(out, reading{byte(n), end + 1})
		} else if last == 0 || last == ';' {
			out = append(out, reading{byte(n), i})
		}
	}
	slices.Reverse(out[from:])
	return out
}

// entity reads a character of HTML behind its ampersand.
func entity(out []reading, s []cell, i int) []reading {
	if s[i].c == '#' {
		if i+1 < len(s) && (s[i+1].c == 'x' || s[i+1].c == 'X') {
			return numbers(out, s, i+2, 16, ';')
		}
		return numbers(out, s, i+1, 10, ';')
	}
	var room [longestName]byte
	name := append(room[:0], '&')
	for ; i < len(s) && len(name) < longestName-1 && digit(s[i].c) < 36; i++ {
		name = append(name, s[i].c)
	}
	if i == len(s) || s[i].c != ';' || len(name) == 1 {
		return out
	}
	if text := html.UnescapeString(string(append(name, ';'))); len(text) == 1 {
		out = append(out, reading{text[0], i + 1})
	}
	return out
}

// digit is the value of a digit of base 36, more for other characters.
func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'Z':
		return int(c-'A') + 10
	}
	return 36
}

func lineBreak(c byte) bool { return c == '\r' || c == '\n' || c == '\v' || c == '\f' }

func blank(c byte) bool { return c == ' ' || c == '\t' }
