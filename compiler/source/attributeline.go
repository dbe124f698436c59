package source

import (
	"path"
	"slices"
	"strings"
)

// attributeLine is a line of a file of attributes.
type attributeLine struct {
	number int
	// pattern says which paths the line is about; any is set where that may be every path.
	pattern string
	any     bool
	// macro is the name of the macro that the line may define. With an empty pattern it does nothing else.
	macro string
	words []string
	// plain is set where git certainly reads the line as it stands here.
	plain bool
}

// everyAttribute stands for the attributes that a macro may set.
const everyAttribute = "*"

const (
	attributeBlanks = " \t\r" // by which git parts words (attr.c)
	// attributeBreaks part words here: no word hides behind a blank of another program's.
	attributeBreaks = attributeBlanks + "\v\f\""
	macroMark       = "[attr]"
)

// attributeLines parses a file of attributes. A NUL ends the text for git, or the line.
func attributeLines(text string) []attributeLine {
	var out []attributeLine
	whole := !strings.Contains(text, "\x00")
	text, marked := strings.CutPrefix(text, "\ufeff")
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		for part := range strings.SplitSeq(line, "\x00") {
			l, ok := parseAttributeLine(strings.TrimLeft(part, attributeBlanks))
			if !ok {
				continue
			}
			l.number = number
			l.plain = whole && !(marked && number == 1) && len(line) < maxLine && plainAttributeLine(line)
			out = append(out, l)
		}
	}
	return out
}

// parseAttributeLine parses a line that begins with no blank. Git reads C escapes in a quoted pattern: a pattern with a
// backslash may be any pattern, or define any macro.
func parseAttributeLine(line string) (l attributeLine, ok bool) {
	if line == "" || line[0] == '#' {
		return l, false
	}
	rest := ""
	if line[0] != '"' {
		end := strings.IndexAny(line, attributeBlanks)
		if end < 0 {
			return l, false
		}
		l.pattern, rest = line[:end], line[end:]
	} else {
		l.pattern, rest, ok = strings.Cut(line[1:], `"`)
		if !ok || strings.Contains(line, `\`) {
			l.any, rest = true, line
		}
	}
	l.words = attributeWords(rest)
	name, defines := strings.CutPrefix(l.pattern, macroMark)
	switch {
	case !defines:
	case strings.Trim(name, attributeBlanks) == "": // the name follows, or the line is a class of letters
		if len(l.words) > 0 {
			l.macro = l.words[0]
		}
	default:
		l.macro = strings.Trim(name, attributeBlanks)
		if line[0] != '"' {
			l.pattern = ""
		}
	}
	return l, l.any || len(l.words) > 0
}

func attributeWords(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(attributeBreaks, r) })
}

// plainAttributeLine reports whether a line has nothing but a literal pattern and attributes with valid names, with
// blanks and tabs between them. Of a line with another name git takes nothing.
func plainAttributeLine(line string) bool {
	words := strings.FieldsFunc(strings.TrimSuffix(line, "\r"), func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 || strings.Trim(words[0], letters+"._/-") != "" {
		return false
	}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		if name != "" && (name[0] == '-' || name[0] == '!') {
			name = name[1:]
		}
		printable := func(r rune) bool { return r > ' ' && r <= '~' && r != '"' }
		if name == "" || name[0] == '-' || strings.Trim(name, letters+"._-") != "" ||
			strings.HasPrefix(name, "builtin_") || strings.TrimFunc(value, printable) != "" {
			return false
		}
	}
	return true
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// sets returns the altering attribute that a word of the line may set, by itself or as a macro.
func (l *attributeLine) sets(word string, macros map[string]bool) string {
	name, value, valued := strings.Cut(word, "=")
	switch {
	case word[0] == '-' || word[0] == '!':
		return ""
	case l.plain && name == "working-tree-encoding" && strings.EqualFold(strings.Replace(value, "-", "", 1), "UTF8"):
		return ""
	case slices.Contains(altering, name):
		return name
	case !valued && macros[name]:
		return everyAttribute
	}
	return ""
}

// matches reports whether the line may be about a path, and whether it certainly is.
func (l *attributeLine) matches(name string) (may, does bool) {
	if l.any || l.pattern == "" {
		return l.any, false
	}
	if literal := strings.TrimPrefix(l.pattern, "/"); l.plain && (literal == name || l.pattern == path.Base(name)) {
		return true, true
	}
	return mayMatch(l.pattern, name), false
}

// mayMatch is true for all pairs of a pattern and a path that git may take to match, whether or not it tells upper from
// lower case. Letters of ASCII stand for themselves; the rest, with the slashes around it, for any text.
func mayMatch(pattern, name string) bool {
	if !strings.Contains(pattern, "/") {
		name = path.Base(name)
	}
	parts := strings.Split(loose(strings.TrimLeft(pattern, "/")), "*")
	for i := range parts {
		if i > 0 {
			parts[i] = strings.TrimLeft(parts[i], "/")
		}
		if i < len(parts)-1 {
			parts[i] = strings.TrimRight(parts[i], "/")
		}
	}
	name = strings.ToLower(name)
	if len(parts) == 1 {
		return name == parts[0]
	}
	name, begins := strings.CutPrefix(name, parts[0])
	name, ends := strings.CutSuffix(name, parts[len(parts)-1])
	for _, part := range parts[1 : len(parts)-1] {
		_, rest, found := strings.Cut(name, part)
		name, begins = rest, begins && found
	}
	return begins && ends
}

// loose writes a pattern with no wildcard but stars, in lower case: a star stands for classes, escapes and all that is
// not ASCII.
func loose(pattern string) string {
	if from := strings.IndexAny(pattern, `[\`); from >= 0 {
		to := max(strings.LastIndexByte(pattern, ']')+1, min(strings.LastIndexByte(pattern, '\\')+2, len(pattern)))
		if strings.LastIndexByte(pattern, '[') >= to {
			to = len(pattern)
		}
		pattern = pattern[:from] + "*" + pattern[max(from, to):]
	}
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '?' || r < ' ' || r > '~' {
			return '*'
		}
		return r
	}, pattern))
}
