package credential

import "html"

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

// decoded takes one layer of escapes away. Those that are no more than a likely guess stay: a plus sign and an equals
// sign are parts of values.
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

// escape is the byte of an escape at a place, and where the escape ends: percent-encoding and quoted-printable
// (RFC 3986, 2.1; RFC 2045, 6.7), JSON, languages that have its escapes, and HTML.
func escape(s []cell, i int) (c byte, end int, ok bool) {
	first := s[i].c
	i++
	switch {
	case first == '+':
		return ' ', i, true // application/x-www-form-urlencoded
	case first == '%' && i < len(s) && s[i].c == 'u': // escape() of ECMAScript, annex B
		return digits(s, i+1, 16, 4)
	case first == '=', first == '%':
		return digits(s, i, 16, 2)
	case first == '\\' && i < len(s):
		return backslash(s, i)
	case first == '&' && i < len(s):
		return entity(s, i)
	}
	return 0, i, false
}

func backslash(s []cell, i int) (c byte, end int, ok bool) {
	switch c = s[i].c; {
	case c == 'u' && i+1 < len(s) && s[i+1].c == '{':
		return closed(s, i+2, 16, '}')
	case c == 'u':
		return digits(s, i+1, 16, 4)
	case c == 'U':
		return digits(s, i+1, 16, 8)
	case c == 'x':
		return digits(s, i+1, 16, 2)
	case '0' <= c && c <= '7':
		return digits(s, i, 8, 3)
	case c == 'n':
		return '\n', i + 1, true
	case c == 'r':
		return '\r', i + 1, true
	case c == 't':
		return '\t', i + 1, true
	}
	return c, i + 1, c > ' ' && c < 0x7f && digit(c) > 35
}

// entity reads a character of HTML behind its ampersand.
func entity(s []cell, i int) (c byte, end int, ok bool) {
	if s[i].c == '#' {
		if i+1 < len(s) && (s[i+1].c == 'x' || s[i+1].c == 'X') {
			return closed(s, i+2, 16, ';')
		}
		return closed(s, i+1, 10, ';')
	}
	var room [longestName]byte
	name := append(room[:0], '&')
	for ; i < len(s) && len(name) < longestName-1 && digit(s[i].c) < 36; i++ {
		name = append(name, s[i].c)
	}
	if i == len(s) || s[i].c != ';' || len(name) == 1 {
		return 0, i, false
	}
	text := html.UnescapeString(string(append(name, ';')))
	return text[0], i + 1, len(text) == 1
}

// digits reads a number of so many digits.
func digits(s []cell, i, base, count int) (c byte, end int, ok bool) {
	n := 0
	for range count {
		if i == len(s) || digit(s[i].c) >= base {
			return 0, i, false
		}
		n = n*base + digit(s[i].c)
		i++
	}
	return byte(n), i, n < 0x80
}

// closed reads a number up to a character, which HTML does not demand.
func closed(s []cell, i, base int, last byte) (c byte, end int, ok bool) {
	const most = 8
	n, begin := 0, i
	for ; i < len(s) && i < begin+most && digit(s[i].c) < base; i++ {
		n = n*base + digit(s[i].c)
	}
	ok = i > begin && n < 0x80
	if i < len(s) && s[i].c == last {
		i++
	}
	return byte(n), i, ok
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

// broken lists where a text can go on that a place continues: there, and behind line breaks, with the blanks
// that begin a line, and the marks that quoted-printable and shells have before them.
func broken(out []int, s []cell, i int) []int {
	out = append(out, i)
	if i < len(s) && (s[i].c == '=' || s[i].c == '\\') && i+1 < len(s) && lineBreak(s[i+1].c) {
		i++
	}
	for lines := false; i < len(s) && len(out) < cap(out); {
		c, end, ok := s[i].c, i+1, false
		if c == '\\' || c == '%' || c == '&' {
			c, end, ok = escape(s, i)
		}
		switch {
		case lineBreak(c):
			lines = true
		case !ok && lines && (c == ' ' || c == '\t'):
		default:
			return out
		}
		i = end
		out = append(out, i)
	}
	return out
}

func lineBreak(c byte) bool { return c == '\r' || c == '\n' }
