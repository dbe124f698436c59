package shell

import "strings"

// stream takes the words of sed apart: a script that runs nothing hides no command, and a script that may run commands,
// or that is read from the input, is code.
func (p *Part) stream() {
	var scripts, operands []int
	files := false
	for i := 1; i < len(p.Words); i++ {
		t := p.Words[i].Text
		switch {
		case p.Words[i].Is("--"):
			for i++; i < len(p.Words); i++ {
				operands = append(operands, i)
			}
		case len(t) < 2 || t[0] != '-':
			operands = append(operands, i)
		default:
			letter, value, own := sedOption(t)
			if letter == 0 {
				continue
			}
			if !own {
				if i++; i == len(p.Words) {
					return
				}
				value = p.Words[i].Text
			}
			if letter == 'e' {
				scripts = append(scripts, i)
				p.script(value)
				continue
			}
			files = true
			p.CodeOnInput = p.CodeOnInput || value == "-" || isDevice(value, p.Dirs)
		}
	}
	if len(scripts) == 0 && !files && len(operands) > 0 {
		scripts = operands[:1]
		p.script(p.Words[operands[0]].Text)
	}
	for _, i := range scripts {
		if p.Words[i].Form == Literal && !files {
			p.Values = append(p.Values, i)
		}
	}
}

// script marks a part by its script of sed.
func (p *Part) script(text string) {
	if sedRuns(text) {
		p.CodeInWords, p.CodeOnInput = true, true
	}
}

// sedOption reads an option of sed: e for a script, f for the file of a script, 0 for all others; its value, and
// whether that is in the same word.
func sedOption(t string) (letter byte, value string, own bool) {
	if name, value, own := strings.Cut(t, "="); strings.HasPrefix(t, "--") {
		switch {
		case strings.HasPrefix("--expression", name):
			return 'e', value, own
		case strings.HasPrefix("--file", name):
			return 'f', value, own
		}
		return 0, "", true
	}
	for i := 1; i < len(t); i++ {
		switch t[i] {
		case 'e', 'f':
			return t[i], t[i+1:], i+1 < len(t)
		case 'i', 'I', 'l':
			return 0, "", true // with a value of their own
		}
	}
	return 0, "", true
}

// sedRuns reports whether a script of sed may run a command, by e or by the flag e of s, or is not understood.
func sedRuns(s string) bool {
	for {
		var ok bool
		if s, ok = sedAddresses(strings.TrimLeft(s, " \t\n;{}")); !ok {
			return true
		}
		if s == "" {
			return false
		}
		c := s[0]
		switch s = s[1:]; {
		case strings.IndexByte("{}=dDgGhHnNpPxzF", c) >= 0:
		case strings.IndexByte("qQlL", c) >= 0:
			s = strings.TrimLeft(s, " 0123456789")
		case strings.IndexByte("btTv:", c) >= 0:
			// A blank ends a label for GNU sed, and others take what is behind it for a part of it.
			s = strings.TrimLeftFunc(strings.TrimLeft(s, " \t"), func(r rune) bool {
				return !strings.ContainsRune(" \t;\n}", r)
			})
		case strings.IndexByte("#rRwW", c) >= 0:
			_, s, _ = strings.Cut(s, "\n")
		case strings.IndexByte("aic", c) >= 0:
			s = behindText(s)
		case c == 's' || c == 'y':
			if s, ok = substitution(s); !ok {
				return true
			}
			if c == 'y' {
				continue
			}
			flags := strings.TrimLeft(s, "gpiImM0123456789 ")
			if strings.HasPrefix(flags, "w") {
				_, flags, _ = strings.Cut(flags, "\n")
			}
			if s = flags; s != "" && strings.IndexByte(";\n}#", s[0]) < 0 {
				return true
			}
		default:
			return true
		}
	}
}

// sedAddresses is a script behind the addresses of its first command.
func sedAddresses(s string) (rest string, ok bool) {
	for {
		s = strings.TrimLeft(s, " \t!,+~$0123456789")
		switch {
		case s == "":
			return "", true
		case s[0] == '/':
			s, ok = delimited(s[1:], '/')
		case s[0] == '\\' && len(s) > 1:
			s, ok = delimited(s[2:], s[1])
		default:
			return s, true
		}
		if !ok {
			return "", false
		}
		s = strings.TrimLeft(s, "IM")
	}
}

// substitution is a script behind the two texts of s or y.
func substitution(s string) (rest string, ok bool) {
	if s == "" || strings.IndexByte("\\\n", s[0]) >= 0 || s[0] >= 0x80 {
		return "", false
	}
	by := s[0]
	if s, ok = delimited(s[1:], by); ok {
		s, ok = delimited(s, by)
	}
	return s, ok
}

// delimited is a text behind an unescaped delimiter.
func delimited(s string, by byte) (rest string, ok bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case by:
			return s[i+1:], true
		}
	}
	return "", false
}

// behindText is a script behind the text of a, i or c: an unescaped end of a line ends it.
func behindText(s string) string {
	rest, _ := delimited(s, '\n')
	return rest
}

// records takes the words of awk apart. A script that has no pipe, no call of system and no loaded code runs nothing.
func (p *Part) records() {
	plain := true
	for i := 1; i < len(p.Words); i++ {
		t := p.Words[i].Text
		switch {
		case p.Words[i].Form != Literal:
			plain = false
		case i > 1 && (p.Words[i-1].Is("-F") || p.Words[i-1].Is("-v")), separates(t):
		case t == "-" || isDevice(t, p.Dirs):
			plain = false
			p.CodeOnInput = p.CodeOnInput || len(p.Words[i-1].Text) > 1 && p.Words[i-1].Text[0] == '-'
		case len(t) > 1 && t[0] == '-' && t != "--":
			plain = false
			_, value, _ := strings.Cut(t, "=")
			p.CodeOnInput = p.CodeOnInput || strings.HasPrefix(t, "-D") || strings.HasPrefix("--debug", t)
			for _, file := range []string{value, t[2:]} {
				p.CodeOnInput = p.CodeOnInput || file == "-" || isDevice(file, p.Dirs)
			}
		}
	}
	for i, w := range p.Words[1:] {
		if separates(w.Text) || i > 0 && (p.Words[i].Is("-F") || p.Words[i].Is("-v")) {
			p.Values = append(p.Values, i+1)
			continue
		}
		text := strings.ReplaceAll(w.Text, "||", "")
		if strings.Contains(text, "system") || strings.ContainsAny(text, "|@") || strings.Contains(text, "\\\n") {
			p.CodeInWords = true
		} else if plain {
			p.Values = append(p.Values, i+1)
		}
	}
}

// separates reports whether a word is an option of awk that is data.
func separates(s string) bool { return strings.HasPrefix(s, "-F") || strings.HasPrefix(s, "-v") }
