package shell

import "strings"

// splits takes the text of env's -S apart as env does, with the words behind it: env reads them as its own.
func (a *analysis) splits(p *Part, text string, behind int) *Part {
	words, ok := envWords(text)
	if !ok {
		return &Part{Kind: Opaque, Text: text, Why: "the text that env splits is not understood"}
	}
	words = append([]Word{p.Words[0]}, words...)
	return a.program(append(words, p.Words[min(behind, len(p.Words)):]...), p.Dirs)
}

// envWords splits a text as env -S does (env(1), GNU coreutils 9.1: "-S/--split-string usage in scripts").
func envWords(s string) (out []Word, ok bool) {
	var b strings.Builder
	begun, quote := false, byte(0)
	end := func() {
		if begun {
			out = append(out, Word{Text: b.String()})
		}
		b.Reset()
		begun = false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '$' && quote != '\'':
			return nil, false // a variable
		case c == '\'' || c == '"':
			switch quote {
			case 0:
				quote, begun = c, true
			case c:
				quote = 0
			default:
				b.WriteByte(c)
			}
		case c == '\\':
			if i++; i == len(s) {
				return nil, false
			}
			to, blank := envEscape(s[i], quote)
			switch {
			case quote == '\'' && to == 0:
				b.WriteString(s[i-1 : i+1])
			case blank:
				end()
			case s[i] == 'c' && quote == 0:
				end()
				return out, true
			case to == 0:
				return nil, false
			default:
				b.WriteByte(to)
				begun = true
			}
		case quote == 0 && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			end()
		case quote == 0 && c == '#' && !begun:
			return out, true
		default:
			b.WriteByte(c)
			begun = true
		}
	}
	end()
	return out, quote == 0
}

// envEscape is the character that a backslash and a letter stand for, 0 for none, and whether it parts words.
func envEscape(c, quote byte) (to byte, blank bool) {
	if i := strings.IndexByte(`\'`, c); i >= 0 || quote == '\'' {
		if i < 0 {
			return 0, false
		}
		return c, false
	}
	switch c {
	case '#', '$', '"':
		return c, false
	case '_', 'f', 'n', 'r', 't', 'v':
		return map[byte]byte{'_': ' ', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}[c], quote == 0
	}
	return 0, false
}
