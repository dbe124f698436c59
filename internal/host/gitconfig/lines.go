package gitconfig

import (
	"bytes"
	"errors"
	"strings"
)

var errSyntax = errors.New("a line that git does not read")

// line is a line of a configuration together with the lines in which its value goes on.
type line struct {
	raw string
	// heads reports whether the line has the head of a section.
	heads bool
	// section and sub are the section behind the line, the name in lower case.
	section, sub string
	// key is the variable that the line assigns, in lower case, empty without a variable.
	key, value string
}

const bom = "\ufeff"

// lines takes a text apart as git does (config.c, git_parse_source). The end of the text ends a line.
func lines(text string) ([]line, error) {
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	var out []line
	s := scanner{text: text}
	if strings.HasPrefix(text, bom) {
		s.at = len(bom)
	}
	for begun := 0; begun < len(text); begun = s.at {
		s.line = line{section: s.section, sub: s.sub}
		if !s.next() {
			return nil, errSyntax
		}
		s.raw = text[begun:s.at]
		out = append(out, s.line)
	}
	return out, nil
}

// scanner reads a text character by character, with \r\n as \n, and \n behind the end.
type scanner struct {
	text string
	at   int
	line
}

func (s *scanner) char() byte {
	if s.at >= len(s.text) {
		return '\n'
	}
	if strings.HasPrefix(s.text[s.at:], "\r\n") {
		s.at++
	}
	s.at++
	return s.text[s.at-1]
}

// next reads a line: heads of sections, then at most a variable or a comment.
func (s *scanner) next() bool {
	for {
		switch c := s.char(); {
		case c == '\n':
			return true
		case space(c):
		case c == '#' || c == ';':
			for c != '\n' {
				c = s.char()
			}
			return true
		case c == '[':
			if s.heads = true; !s.head() {
				return false
			}
		default:
			return letter(c) && s.variable(c)
		}
	}
}

// head reads the head of a section behind the bracket.
func (s *scanner) head() bool {
	var name, sub strings.Builder
	c := s.char()
	for ; c != ']' && !space(c); c = s.char() {
		if !keyChar(c) && c != '.' {
			return false
		}
		name.WriteByte(c)
	}
	s.section, s.sub = strings.ToLower(name.String()), ""
	if c == ']' {
		return true
	}
	for ; space(c); c = s.char() {
		if c == '\n' {
			return false
		}
	}
	if c != '"' {
		return false
	}
	for c = s.char(); c != '"'; c = s.char() {
		if c == '\\' {
			c = s.char()
		}
		if c == '\n' {
			return false
		}
		sub.WriteByte(c)
	}
	s.sub = sub.String()
	return s.char() == ']'
}

// variable reads a variable that begins with a letter, up to the end of its value.
func (s *scanner) variable(c byte) bool {
	var key strings.Builder
	for ; keyChar(c); c = s.char() {
		key.WriteByte(c)
	}
	for c == ' ' || c == '\t' {
		c = s.char()
	}
	s.key, s.value = strings.ToLower(key.String()), "true"
	return c == '\n' || c == '=' && s.assigned()
}

// assigned reads a value, which goes on behind a newline with a backslash in front of it.
func (s *scanner) assigned() bool {
	var value strings.Builder
	quoted, comment, kept := false, false, 0
	for {
		c := s.char()
		switch {
		case c == '\n':
			s.value = value.String()[:kept]
			return !quoted
		case comment:
			continue
		case !quoted && space(c):
			if value.Len() > 0 {
				value.WriteByte(c)
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			comment = true
			continue
		case c == '"':
			quoted = !quoted
		case c == '\\':
			switch c = s.char(); c {
			case '\n':
				continue
			case 'n', 't', 'b':
				c = map[byte]byte{'n': '\n', 't': '\t', 'b': '\b'}[c]
			case '"', '\\':
			default:
				return false
			}
			value.WriteByte(c)
		default:
			value.WriteByte(c)
		}
		kept = value.Len()
	}
}

func space(c byte) bool   { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func letter(c byte) bool  { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func keyChar(c byte) bool { return letter(c) || '0' <= c && c <= '9' || c == '-' }

// branchHead is the head of a branch's section as git writes it, and variableLine a line with a variable.
func branchHead(sub string) string {
	return `[branch "` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(sub) + "\"]\n"
}

func variableLine(key, value string) string {
	quote := ""
	if strings.HasPrefix(value, " ") || strings.HasSuffix(value, " ") || strings.ContainsAny(value, "#;") {
		quote = `"`
	}
	escaped := strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\t", `\t`).Replace(value)
	return "\t" + key + " = " + quote + escaped + quote + "\n"
}

// Variable is a variable of a configuration: its section and key in lower case.
type Variable struct{ Section, Sub, Key, Value string }

// Variables reads a configuration as git does. A text that git refuses is an error.
func Variables(data []byte) ([]Variable, error) {
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, errSyntax
	}
	all, err := lines(string(data))
	var out []Variable
	for _, l := range all {
		if l.key != "" {
			out = append(out, Variable{l.section, l.sub, l.key, l.value})
		}
	}
	return out, err
}
