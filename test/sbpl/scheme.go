package sbpl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// ErrProfile is wrapped by every refusal of a profile.
var ErrProfile = errors.New("not a usable sandbox profile")

// kind is the kind of a datum.
type kind uint8

const (
	symbol kind = iota + 1
	text
	number
	list
)

// datum is one expression of a profile as it is read: a symbol, a string, a number,
// or a list. A quoted symbol is a list of quote and the symbol.
type datum struct {
	kind  kind
	text  string
	num   int64
	items []datum
	line  int
}

// head returns the symbol that a list begins with, empty if there is none.
func (d datum) head() string {
	if d.kind == list && len(d.items) > 0 && d.items[0].kind == symbol {
		return d.items[0].text
	}
	return ""
}

// args returns the elements after the head of a list.
func (d datum) args() []datum {
	if len(d.items) == 0 {
		return nil
	}
	return d.items[1:]
}

func (d datum) fail(format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %s", ErrProfile, d.line, fmt.Sprintf(format, args...))
}

const (
	// maxString is the greatest length of a string literal in bytes.
	maxString = 1023
	// maxDepth bounds nesting, so that no text exhausts the stack.
	maxDepth = 64
)

// scanner reads the lists and strings of TinyScheme, which the profile language is
// written in (http://tinyscheme.sourceforge.net), with the raw strings that Apple
// added.
type scanner struct {
	in   string
	pos  int
	line int
	// wide is the line of a comment with a byte outside of ASCII, zero for none.
	wide int
}

// scan reads all expressions of a profile.
func scan(in string) ([]datum, error) {
	s := &scanner{in: in, line: 1}
	var out []datum
	for s.blank(); s.pos < len(s.in); s.blank() {
		d, err := s.datum(0)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	if s.wide > 0 {
		s.line = s.wide
		return nil, s.fail(notASCII)
	}
	return out, nil
}

// notASCII is about comments and names alone. The system's compiler has been seen to abort at
// such bytes (h5i-dev/h5i, pull 387), and to read them in strings (mcncarl/jianying-headless, issue 13).
const notASCII = "a byte outside of ASCII and of strings"

func (s *scanner) fail(why string) error {
	return fmt.Errorf("%w: line %d: %s", ErrProfile, s.line, why)
}

// peek returns the next byte, zero at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.in) {
		return s.in[s.pos]
	}
	return 0
}

func (s *scanner) next() byte {
	c := s.peek()
	if c == '\n' {
		s.line++
	}
	if s.pos < len(s.in) {
		s.pos++
	}
	return c
}

// blank skips white space and comments.
func (s *scanner) blank() {
	for s.pos < len(s.in) {
		switch c := s.peek(); {
		case c == ';':
			for ; s.pos < len(s.in) && s.peek() != '\n'; s.pos++ {
				if s.peek() > unicode.MaxASCII && s.wide == 0 {
					s.wide = s.line
				}
			}
		case isSpace(c):
			s.next()
		default:
			return
		}
	}
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}

func (s *scanner) datum(depth int) (datum, error) {
	line := s.line
	if depth > maxDepth {
		return datum{}, s.fail("nested too deeply")
	}
	switch c := s.peek(); {
	case c == '(':
		return s.list(depth)
	case c == ')':
		return datum{}, s.fail("a parenthesis closes nothing")
	case c == '"':
		s.next()
		str, err := s.string()
		return datum{kind: text, text: str, line: line}, err
	case strings.HasPrefix(s.in[s.pos:], `#"`):
		s.pos += 2
		str, err := s.raw()
		return datum{kind: text, text: str, line: line}, err
	case c == '\'':
		s.next()
		s.blank()
		quoted, err := s.datum(depth + 1)
		return datum{kind: list, items: []datum{{kind: symbol, text: "quote", line: line}, quoted}, line: line}, err
	default:
		return s.atom()
	}
}

func (s *scanner) list(depth int) (datum, error) {
	out := datum{kind: list, line: s.line}
	s.next()
	for s.blank(); s.peek() != ')'; s.blank() {
		if s.pos >= len(s.in) {
			return out, out.fail("a parenthesis is not closed")
		}
		d, err := s.datum(depth + 1)
		if err != nil {
			return out, err
		}
		out.items = append(out.items, d)
	}
	s.next()
	return out, nil
}

// atom reads a symbol or a number, in decimal or behind #x in hexadecimal.
func (s *scanner) atom() (datum, error) {
	start := s.pos
	for s.pos < len(s.in) && !isSpace(s.peek()) && !strings.ContainsRune(`()";'`, rune(s.peek())) {
		s.pos++
	}
	word := s.in[start:s.pos]
	if strings.IndexFunc(word, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		return datum{}, s.fail(notASCII)
	}
	out := datum{kind: symbol, text: word, line: s.line}
	if word == "" {
		return out, s.fail("an expression is missing")
	}
	base, digits := 10, word
	if hex, ok := strings.CutPrefix(word, "#x"); ok {
		base, digits = 16, hex
	}
	if n, err := strconv.ParseInt(digits, base, 64); err == nil {
		out.kind, out.num = number, n
	}
	return out, nil
}

// raw reads a string without escapes, behind its opening quote.
func (s *scanner) raw() (string, error) {
	end := strings.IndexByte(s.in[s.pos:], '"')
	if end < 0 {
		return "", s.fail("a raw string is not closed")
	}
	if end > maxString {
		return "", s.fail("a string is too long")
	}
	out := s.in[s.pos : s.pos+end]
	s.line += strings.Count(out, "\n")
	s.pos += end + 1
	return out, nil
}

// string reads a string behind its opening quote.
func (s *scanner) string() (string, error) {
	var out []byte
	for {
		if s.pos >= len(s.in) {
			return "", s.fail("a string is not closed")
		}
		c := s.next()
		switch {
		case c == '"':
			return string(out), nil
		case c == '\\':
			var err error
			if c, err = s.escape(); err != nil {
				return "", err
			}
		}
		if out = append(out, c); len(out) > maxString {
			return "", s.fail("a string is too long")
		}
	}
}

// escape reads the characters after a backslash. Any character without a meaning of its own
// stands for itself.
func (s *scanner) escape() (byte, error) {
	if s.pos >= len(s.in) {
		return 0, s.fail("a string is not closed")
	}
	switch c := s.next(); c {
	case 'n':
		return '\n', nil
	case 't':
		return '\t', nil
	case 'r':
		return '\r', nil
	case 'x', 'X':
		return s.digits(16, 2, 2)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		s.pos--
		return s.digits(8, 1, 3)
	default:
		return c, nil
	}
}

// digits reads from least to most digits of a byte's value.
func (s *scanner) digits(base, least, most int) (byte, error) {
	n, count := 0, 0
	for ; count < most; count++ {
		v, err := strconv.ParseInt(s.in[s.pos:min(s.pos+1, len(s.in))], base, 16)
		if err != nil {
			break
		}
		n = n*base + int(v)
		s.pos++
	}
	if count < least || n > 0xff {
		return 0, s.fail("a string has an escape that is no byte")
	}
	return byte(n), nil
}
